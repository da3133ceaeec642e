#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace monet::cli {

namespace {

// What a user may have given that says something of the step's graph alone; null: nothing.
const char* about_the_graph(const TrainCommand& command) {
  if (!command.output.empty()) return "-o";
  if (!command.plan.empty()) return "--plan";
  if (!command.recompute.recompute.empty()) return "--recompute";
  if (!command.recompute.keep.empty()) return "--keep";
  if (command.view.saved) return "--saved";
  if (command.view.parameters) return "--parameters";
  return command.view.layers ? "--layers" : nullptr;
}

std::vector<std::string> precisions_of(const TrainCommand& command) {
  std::vector<std::string> precisions;
  for (const std::string& name : command.compare)
    if (std::ranges::find(precisions, name) == precisions.end()) precisions.push_back(name);
  if (precisions.empty()) precisions = {"fp32"};
  const std::string& own = command.options.precision;
  if (!own.empty() && std::ranges::find(precisions, own) == precisions.end()) precisions.push_back(own);
  return precisions;
}

// Each once, with the precisions of which it is said; what is said of all names none.
std::vector<std::string> notes_of(const std::vector<Simulation>& simulations) {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;  // note, precisions
  for (const Simulation& simulation : simulations) {
    for (const std::string& note : simulation.notes) {
      auto known = std::ranges::find(found, note, &std::pair<std::string, std::vector<std::string>>::first);
      if (known == found.end()) known = found.insert(found.end(), {note, {}});
      if (std::ranges::find(known->second, simulation.precision) == known->second.end())
        known->second.push_back(simulation.precision);
    }
  }
  std::vector<std::string> notes;
  for (const auto& [note, precisions] : found) {
    const bool all = precisions.size() == simulations.size();
    notes.push_back(all ? note : fmt::format("{}: {}", fmt::join(precisions, ", "), note));
  }
  return notes;
}

int run_simulation(const TrainCommand& command) {
  if (const char* const option = about_the_graph(command); option != nullptr) {
    return report(Error{.message = "it shows or changes the graph of the step, and does not go with --simulate",
                        .place = option,
                        .advice = "leave one of them out; --csv and --json keep the losses"});
  }
  SimulateOptions options = command.simulate;
  options.train = command.options;
  options.force = command.recompute.force;
  options.stop = stop_on_interrupt();
  const bool watched = is_watched(command.common);
  if (watched) options.progress = show_progress;
  const auto simulations = simulate(command.model, precisions_of(command), options);
  if (watched) clear_progress();
  if (!simulations) return report(simulations.error());
  std::vector<std::string> warnings = simulations->front().warnings;
  if (std::string text = hardly_learned(simulations->front()); !text.empty()) warnings.push_back(std::move(text));
  report(warnings, notes_of(*simulations), command.common);
  if (!command.csv.empty()) {
    if (const int status = write_text(command.csv, to_csv(*simulations)); status != 0) return status;
  }
  return command.common.json ? print_json(to_json(*simulations)) : print(to_text(*simulations));
}

}  // namespace

int run(const TrainCommand& command) {
  if (command.simulates) return run_simulation(command);
  RecomputeOptions recompute = command.recompute;
  if (!command.plan.empty()) {
    auto plan = read_plan(command.plan);
    if (!plan) return report(plan.error());
    recompute.plan = *std::move(plan);
  }
  const auto training = train(command.model, command.options, command.output, recompute);
  if (!training) return report(training.error());
  report(training->step.warnings, training->step.notes, command.common);
  return command.common.json ? print_json(to_json(*training, command.view)) : print(to_text(*training, command.view));
}

}  // namespace monet::cli
