#include "base/try.h"
#include "evaluate/open/opened_step.h"
#include "evaluate/run/evaluate_network.h"
#include "hardware/hardware.h"
#include "training/recipe.h"

#include <monet/precision.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

namespace monet {

namespace {

constexpr const char* reference_recipe = "fp32";
constexpr std::int64_t measurements = 20;  // of the held-out samples, after the first: curves are drawn of them

// What is there, or as asked; fp32, with which the others are compared, first.
std::vector<std::string> recipes_asked_for(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& name : given.empty() ? training::recipe_names() : given) {
    if (std::ranges::find(names, name) != names.end()) continue;
    // One that only counts is no choice to make.
    const auto recipe = given.empty() ? training::read_recipe(name) : training::Recipe{};
    if (recipe && !recipe->everything) names.push_back(name);
  }
  if (const auto found = std::ranges::find(names, reference_recipe); found != names.end())
    std::rotate(names.begin(), found, found + 1);
  return names;
}

// Faults that are no fault of a recipe.
Status check_inputs(const Network& network, const StepRequest& options, const std::vector<std::string>& names) {
  for (const std::string& name : names) MONET_RETURN_IF_ERROR(training::read_recipe(name));
  MONET_RETURN_IF_ERROR(options.machine.hardware());
  TrainOptions plain = options.train;
  plain.precision.clear();
  MONET_RETURN_IF_ERROR(open_network_as_asked(network, plain, true));
  return Done{};
}

std::int64_t packed_peak(const Evaluation& evaluation) {
  std::int64_t peak = 0;
  for (const MemoryResult& memory : evaluation.memories) peak = std::max(peak, memory.packed_peak_bytes);
  return peak;
}

// What products that the machine cannot run as they are were converted to for the costs; empty: there are none.
std::string converted_to(const std::vector<OperatorResult>& operators) {
  std::set<std::string> formats;
  for (const OperatorResult& each : operators) {
    if (each.converted) formats.insert(each.precision);
  }
  return fmt::format("{}", fmt::join(formats, ", "));
}

bool is_asked_to_stop(const std::function<bool()>& stop) { return stop && stop(); }

// What is said of recipes, and of which.
class Notes {
 public:
  void add(const std::string& recipe, const std::vector<std::string>& notes) {
    for (const std::string& note : notes) {
      auto known = std::ranges::find(notes_, note, &Note::text);
      if (known == notes_.end()) known = notes_.insert(notes_.end(), {.text = note, .recipes = {}});
      if (std::ranges::find(known->recipes, recipe) == known->recipes.end()) known->recipes.push_back(recipe);
    }
  }
  // What is true of all is said of none.
  std::vector<std::string> texts(std::size_t all) const {
    std::vector<std::string> texts;
    for (const Note& note : notes_)
      texts.push_back(note.recipes.size() == all ? note.text
                                                 : fmt::format("{}: {}", fmt::join(note.recipes, ", "), note.text));
    return texts;
  }

 private:
  struct Note {
    std::string text;
    std::vector<std::string> recipes;
  };
  std::vector<Note> notes_;
};

void add_training_notes(const PrecisionRow& row, Notes& notes) {
  if (!row.simulation) return;
  const Simulation& simulation = *row.simulation;
  notes.add(row.recipe, simulation.warnings);
  notes.add(row.recipe, simulation.notes);
  const std::size_t steps = simulation.losses.size();
  if (simulation.diverged)
    notes.add(row.recipe, {fmt::format("training came apart after {} steps: its loss was no number any more", steps)});
  if (simulation.stopped) notes.add(row.recipe, {fmt::format("stopped after {} of {} steps", steps, simulation.steps)});
}

auto first_trained(const std::vector<PrecisionRow>& rows) {
  return std::ranges::find_if(rows, [](const PrecisionRow& row) { return row.simulation.has_value(); });
}

class Comparing {
 public:
  Comparing(const Network& network, const PrecisionComparisonOptions& options, std::vector<std::string> names)
      : network_(network),
        trained_(options.simulate_model.empty() ? network : Network(options.simulate_model)),
        options_(options),
        names_(std::move(names)) {}

  Expected<std::vector<PrecisionRow>> costs() {
    std::vector<PrecisionRow> rows;
    for (const std::string& name : names_) {
      PrecisionRow row{.recipe = name};
      if (const Status priced = price(row); !priced) {
        if (priced.error().kind == ErrorKind::defect || is_asked_to_stop(options_.evaluate.stop)) return priced.error();
        row.failed = priced.error().text();
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  // Which recipes can be trained, before time is spent on anything. Fails where none can.
  Status try_simulations() {
    SimulateOptions options = options_.simulate;
    options.stop = [] { return true; };
    const auto all = simulate(trained_network(), names_, options);
    if (all) return Done{};
    for (const std::string& name : names_)
      if (const auto one = simulate(trained_network(), {name}, options); !one) untrained_[name] = one.error().text();
    return untrained_.size() == names_.size() ? Status(all.error()) : Done{};
  }

  // On equal weights, data and order.
  Status add_simulations(std::vector<PrecisionRow>& rows) const {
    std::vector<std::string> trained;
    for (const std::string& name : names_)
      if (!untrained_.contains(name)) trained.push_back(name);
    MONET_TRY(std::vector<Simulation> simulations, simulate(trained_network(), trained, options_.simulate));
    for (PrecisionRow& row : rows) {
      if (const auto failed = untrained_.find(row.recipe); failed != untrained_.end()) {
        row.not_simulated = failed->second;
        continue;
      }
      const auto at = std::ranges::find(trained, row.recipe) - trained.begin();
      Simulation& simulation = simulations[static_cast<std::size_t>(at)];
      if (simulation.stopped && simulation.losses.empty()) {
        row.not_simulated = "stopped before its first step";
      } else {
        row.simulation = std::move(simulation);
      }
    }
    return Done{};
  }

  // How far apart two seeds of the first recipe are, on the same samples. None: it did not get to the end twice.
  Expected<std::optional<double>> spread_of_seeds(const std::vector<PrecisionRow>& rows) const {
    const auto is_whole = [](const Simulation& run) {
      return !run.stopped && !run.diverged && std::isfinite(run.last().loss);
    };
    const auto first = first_trained(rows);
    const bool compares = std::ranges::count_if(rows, [](const auto& row) { return row.simulation.has_value(); }) > 1;
    std::optional<double> spread;
    if (!compares || !is_whole(*first->simulation)) return spread;
    SimulateOptions options = options_.simulate;
    options.data_seed = options.data_seed.value_or(options.seed);
    ++options.seed;
    options.measure_every = options.steps;
    if (options.progress) {
      options.progress = [&](const std::string& what, std::size_t done, std::size_t all) {
        options_.simulate.progress(fmt::format("{}, another seed: {}", first->recipe, what), done, all);
      };
    }
    MONET_TRY(const std::vector<Simulation> again, simulate(trained_network(), {first->recipe}, options));
    if (is_whole(again.front())) spread = std::abs(again.front().last().loss - first->simulation->last().loss);
    return spread;
  }

  // What makes losses say little.
  std::vector<std::string> warnings(const std::vector<PrecisionRow>& rows) const {
    const auto first = first_trained(rows);
    if (first == rows.end()) return {};
    std::string text = hardly_learned(*first->simulation);
    return text.empty() ? std::vector<std::string>() : std::vector<std::string>{std::move(text)};
  }

  std::vector<std::string> notes(const std::vector<PrecisionRow>& rows) {
    for (const PrecisionRow& row : rows) add_training_notes(row, notes_);
    std::vector<std::string> texts = notes_.texts(names_.size());
    if (options_.accuracy && trained_network().name() != network_.name())
      texts.push_back(
          fmt::format("losses are those of {}, which stands for {}", trained_network().name(), network_.name()));
    const auto trained = first_trained(rows);
    if (trained != rows.end() && batch_ > 0 && trained->simulation->batch != batch_)
      texts.push_back(fmt::format("costs are those of a batch of {}, losses of one of {}{}", batch_,
                                  trained->simulation->batch,
                                  options_.evaluate.train.batch ? "" : "; --batch sets both"));
    return texts;
  }

  const Network& trained_network() const { return trained_; }

 private:
  Status price(PrecisionRow& row) {
    StepRequest options = options_.evaluate;
    options.train.precision = row.recipe;
    options.inference = options.compare = options.advise = options.trace = options.lifetimes = options.graph = false;
    options.pack = true;
    if (options.progress) {
      options.progress = [&](const std::string& what, std::size_t done, std::size_t all) {
        options_.evaluate.progress(fmt::format("{}: {}", row.recipe, what), done, all);
      };
    }
    MONET_TRY(const Training step, train(network_, options.train));
    row.static_bytes = step.static_bytes.total();
    row.saved_bytes = step.saved_bytes;
    for (const FormatClass& each : step.formats) {
      if (each.copies == 0) continue;
      row.copy_bytes += each.bytes;
      row.padding_bytes += each.padding_bytes;
      row.quantized_elements += each.elements;
    }
    MONET_TRY(const Evaluation evaluation, evaluate_network(network_, options, cache_));
    notes_.add(row.recipe, evaluation.warnings);
    notes_.add(row.recipe, evaluation.notes);
    batch_ = evaluation.batch;
    row.costed_as = converted_to(evaluation.operators);
    if (!evaluation.fits)
      return Error{.kind = ErrorKind::infeasible, .message = "it does not fit: " + evaluation.does_not_fit};
    row.latency_s = evaluation.latency_s;
    row.energy_pj = evaluation.energy_pj;
    row.peak_bytes = packed_peak(evaluation);
    return Done{};
  }

  const Network& network_;
  Network trained_;
  const PrecisionComparisonOptions& options_;
  std::vector<std::string> names_;
  MappingCache cache_;                            // what recipes have in common is mapped once
  std::map<std::string, std::string> untrained_;  // and why
  Notes notes_;
  std::int64_t batch_ = 0;  // of the costs; 0: none ran
};

struct Judged {
  PrecisionRow* row;
  double loss, energy, peak;

  // Losses that are no further apart than `tolerance` are equal.
  bool beats(const Judged& other, double tolerance) const {
    return loss <= other.loss + tolerance && energy <= other.energy && peak <= other.peak &&
           (loss < other.loss - tolerance || energy < other.energy || peak < other.peak);
  }
};

// Trained to the end, and not come apart.
bool has_loss(const PrecisionRow& row) {
  return row.simulation && !row.simulation->diverged && !row.simulation->stopped &&
         std::isfinite(row.simulation->last().loss);
}

void mark_best(std::vector<PrecisionRow>& rows, bool by_accuracy, double tolerance) {
  std::vector<Judged> judged;
  for (PrecisionRow& row : rows) {
    if (!row.failed.empty() || !row.costed_as.empty() || (by_accuracy && !has_loss(row))) continue;
    judged.push_back(
        {&row, by_accuracy ? row.simulation->last().loss : 0, row.energy_pj, static_cast<double>(row.peak_bytes)});
  }
  for (const Judged& one : judged)
    one.row->best = std::ranges::none_of(judged, [&](const Judged& other) { return other.beats(one, tolerance); });
}

}  // namespace

Expected<PrecisionComparison> compare_precisions(const Network& network, const Machine& machine,
                                                 const PrecisionComparisonOptions& given) {
  const auto start = std::chrono::steady_clock::now();
  PrecisionComparisonOptions options = given;
  options.evaluate.machine = machine;
  if (!options.simulate.train.batch) options.simulate.train.batch = options.evaluate.train.batch;
  if (options.simulate.measure_every == 0)
    options.simulate.measure_every =
        std::max<std::int64_t>(options.simulate.steps + measurements - 1, 0) / measurements;
  MONET_TRY(options.evaluate.custom_costs, custom_costs_of(given.evaluate));
  options.evaluate.custom_file.clear();
  const std::vector<std::string> names = recipes_asked_for(options.recipes);
  MONET_RETURN_IF_ERROR(check_inputs(network, options.evaluate, names));
  PrecisionComparison comparison{.model = network.name(),
                                 .simulate_model = {},
                                 .hardware = machine.name(),
                                 .rows = {},
                                 .loss_tolerance = {},
                                 .warnings = {},
                                 .notes = {},
                                 .wall_s = 0};
  Comparing comparing(network, options, names);
  if (options.accuracy) {
    comparison.simulate_model = comparing.trained_network().name();
    MONET_RETURN_IF_ERROR(comparing.try_simulations());
  }
  MONET_TRY(comparison.rows, comparing.costs());
  if (options.accuracy) {
    MONET_RETURN_IF_ERROR(comparing.add_simulations(comparison.rows));
    MONET_TRY(comparison.loss_tolerance, comparing.spread_of_seeds(comparison.rows));
  }
  mark_best(comparison.rows, options.accuracy, comparison.loss_tolerance.value_or(0));
  comparison.warnings = comparing.warnings(comparison.rows);
  comparison.notes = comparing.notes(comparison.rows);
  comparison.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return comparison;
}

}  // namespace monet
