#include <monet/remat.h>

#include "base/quantities.h"
#include "base/read_file.h"
#include "base/try.h"
#include "remat/milp.h"
#include "remat/reader.h"
#include "remat/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

namespace monet {

namespace {

Expected<remat::GraphFile> open_graph(const std::string& path, const RematOptions& options, std::string& device_name) {
  std::optional<remat::Device> device;
  if (options.profiles.empty() != options.device.empty())
    return Error{.message = options.device.empty() ? "which of the devices is not said" : "there is no file of devices",
                 .place = options.device.empty() ? "--profiles" : "--device",
                 .advice = options.device.empty() ? "name one with --device" : "give it with --profiles"};
  if (!options.profiles.empty()) {
    MONET_TRY(const std::string profiles, read_file(options.profiles));
    MONET_TRY(device, remat::read_device(profiles, options.profiles, options.device));
    device->channel.page_bytes = options.page_bytes;
    device_name = device->name;
  }
  MONET_TRY(const std::string text, read_file(path));
  MONET_TRY(remat::GraphFile graph, remat::read_graph(text, path, device ? &*device : nullptr));
  graph.problem.fixed_bytes = options.fixed_bytes;
  return graph;
}

Expected<remat::Objective> objective_of(const remat::Problem& problem, const std::string& name) {
  if (name.empty()) return problem.has_energy ? remat::Objective::energy : remat::Objective::time;
  if (name == "energy" && !problem.has_energy)
    return Error{.message = "the graph has no energies",
                 .place = "--objective",
                 .advice = "choose time; energies come from graphs with operation counts and a device"};
  return name == "energy" ? remat::Objective::energy : remat::Objective::time;
}

Expected<std::int64_t> budget_of(const RematOptions& options, std::int64_t peak) {
  if (options.budget_bytes) return *options.budget_bytes;
  if (options.budget_fraction)
    return static_cast<std::int64_t>(std::ceil(*options.budget_fraction * static_cast<double>(peak)));
  return Error{.message = "there is no budget", .place = "--budget", .advice = "give a part, 0.9, or bytes, 5000B"};
}

void describe(Remat& result, const remat::Problem& problem, const RematOptions& options) {
  result.nodes = static_cast<std::int64_t>(problem.size());
  result.links = static_cast<std::int64_t>(problem.operands.size());
  result.time_unit = problem.time_unit == remat::TimeUnit::second ? "s" : "";
  result.base_time = remat::base_time(problem);
  if (problem.has_energy) result.base_energy_j = remat::base_energy_j(problem);
  result.base_peak_bytes = remat::base_peak_bytes(problem);
  result.budget_fraction = options.budget_fraction;
  result.deadline = options.deadline;
  if (options.deadline_factor) result.deadline = *options.deadline_factor * result.base_time;
  result.free_transfers = options.free_transfers;
  result.method = options.method;
  const remat::StructuralMinimum minimum = remat::structural_minimum(problem);
  result.structural_bytes = minimum.bytes;
  for (const remat::NodeIndex operand : problem.operands.of(minimum.node))
    result.structural.push_back({problem.nodes[operand].name, problem.nodes[operand].bytes});
  result.structural.push_back({problem.nodes[minimum.node].name, problem.nodes[minimum.node].bytes});
}

remat::SolveOptions solve_options(const RematOptions& options, remat::Objective objective) {
  remat::SolveOptions result{.method = options.method == "milp" ? remat::Method::milp : remat::Method::search,
                             .bound = options.bound,
                             .seed = options.seed,
                             .jobs = options.jobs,
                             .time_limit_s = options.time_limit_s};
  result.moves = {.recompute = options.recompute,
                  .page = options.page,
                  .reorder = options.reorder,
                  .prune = options.prune,
                  .improve = options.improve};
  if (options.stop) result.stop = options.stop;
  if (options.progress)
    result.progress = [&options, objective](const remat::Value& value) {
      options.progress(value.excess > 0
                           ? std::string("over the budget still")
                           : fmt::format("{} {:.8g}{}", objective == remat::Objective::time ? "time" : "energy",
                                         value.price, value.late > 0 ? ", too late" : ""));
    };
  return result;
}

std::vector<RematCount> counts(const std::map<remat::NodeIndex, std::int64_t>& times, const remat::Problem& problem) {
  std::vector<RematCount> list;
  for (const auto& [node, count] : times) list.push_back({problem.nodes[node].name, count});
  return list;
}

RematSchedule describe(const remat::Answer& answer, const Remat& result, const remat::Problem& problem) {
  const remat::CheckedSchedule& checked = answer.checked;
  RematSchedule schedule{.time = checked.compute_time};
  if (result.base_time > 0) schedule.extra_percent = 100 * (checked.compute_time / result.base_time - 1);
  if (problem.has_energy) schedule.energy_j = checked.energy_j;
  schedule.peak_bytes = checked.peak_bytes;
  schedule.true_time = checked.end_time;
  schedule.true_peak_bytes = checked.timed_peak_bytes;
  constexpr double rounding = 1e-9;
  if (result.deadline) schedule.deadline_met = checked.end_time <= *result.deadline * (1 + rounding);
  schedule.executions = static_cast<std::int64_t>(checked.runs);
  std::vector<int> runs(problem.size(), 0);
  std::map<remat::NodeIndex, std::int64_t> again, paged;
  constexpr const char* kinds[] = {"compute", "free", "page_out", "page_in"};
  for (const remat::Action& action : answer.schedule) {
    if (action.kind == remat::ActionKind::compute && runs[action.node]++ > 0) ++again[action.node];
    if (action.kind == remat::ActionKind::page_in) ++paged[action.node];
    schedule.actions.push_back(
        {kinds[static_cast<std::size_t>(action.kind)], problem.nodes[action.node].name, action.start});
  }
  schedule.recomputed = counts(again, problem);
  schedule.paged = counts(paged, problem);
  return schedule;
}

}  // namespace

Expected<Remat> remat_file(const std::string& path, const RematOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Remat result{.file = path};
  MONET_TRY(remat::GraphFile graph, open_graph(path, options, result.device));
  const remat::Problem& problem = graph.problem;
  result.notes = std::move(graph.notes);
  describe(result, problem, options);
  remat::Goal goal{.deadline = result.deadline, .transfers_take_time = !options.free_transfers};
  MONET_TRY(goal.objective, objective_of(problem, options.objective));
  MONET_TRY(goal.budget, budget_of(options, result.base_peak_bytes));
  result.objective = goal.objective == remat::Objective::time ? "time" : "energy";
  result.budget_bytes = goal.budget;

  const remat::SolveOptions chosen = solve_options(options, goal.objective);
  if (chosen.method == remat::Method::milp) {
    const std::size_t variables = remat::milp_variables(problem, chosen.moves);
    if (variables > remat::milp_most_variables)
      return Error{.message = fmt::format("the integer program would have {} variables; at most {} are tried",
                                          grouped(static_cast<std::int64_t>(variables)),
                                          grouped(static_cast<std::int64_t>(remat::milp_most_variables))),
                   .place = "--method",
                   .advice = "choose search"};
  }
  const remat::Solution solution = remat::solve(problem, goal, chosen);
  for (const auto& [answer, place] :
       {std::pair(&solution.given, &result.schedule), std::pair(&solution.reordered, &result.reordered)}) {
    if (!*answer) continue;
    if (!(*answer)->checked.fault.empty())
      return Error{.kind = ErrorKind::defect, .message = (*answer)->checked.fault, .place = path};
    *place = describe(**answer, result, problem);
  }
  result.bound = options.bound ? solution.bound : std::nullopt;
  result.proven = solution.proven;
  result.reordered_proven = solution.reordered_proven;
  result.out_of_time = solution.out_of_time;
  result.smallest_budget_bytes = solution.smallest_budget;
  result.shortest_time = solution.shortest_time;
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace monet
