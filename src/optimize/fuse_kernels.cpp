#include "optimize/fuse_kernels.h"

#include "base/stop.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/open/kernel_network.h"
#include "evaluate/open/numbers.h"
#include "evaluate/run/evaluate_network.h"
#include "hardware/hardware.h"
#include "optimize/fusion/kernel_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace monet {

namespace {

double value_of(const KernelStep& step, const std::string& objective) {
  if (objective == "sets") return static_cast<double>(step.lowered.launches.size());
  if (objective == "energy") return step.costs.total_mj;
  if (objective == "edp") return step.costs.total_mj * step.costs.total_us;
  if (objective == "latency") return step.costs.total_us;
  double bytes = 0;
  for (const Launch& launch : step.lowered.launches) {
    for (const auto* list : {&launch.reads, &launch.writes}) {
      for (const Touch& touch : *list) bytes += static_cast<double>(touch.bytes);
    }
  }
  return bytes;
}

bool is_library(const Launch& launch) { return launch.kernel.kind != KernelKind::elementwise; }

void fill_stacks(Fusion& result, const KernelStep& step) {
  for (const Launch& launch : step.lowered.launches) {
    result.bound_stacks += is_library(launch) ? 1 : 0;
    if (launch.nodes.empty()) continue;
    FusedOperators& to = result.stacks.emplace_back();
    for (NodeId node : launch.nodes) to.operators.push_back(step.graph[node].name);
    result.operators += static_cast<std::int64_t>(launch.nodes.size());
  }
}

}  // namespace

bool fuses_kernels(const FuseOptions& options) {
  const auto hardware = options.step.machine.hardware();
  if (!hardware) return false;
  return runs_kernels(**hardware, options.step);
}

Expected<Fusion> fuse_kernels(const Network& network, const FuseOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  if (!options.stacks.empty()) {
    return Error{.message = "stacks by numbers of operators are for machines of arrays",
                 .place = "--stacks",
                 .advice = "name their operators in a plan, for monet evaluate --lowering compiled --plan"};
  }
  StepRequest request = options.step;
  MONET_TRY(const std::shared_ptr<const Hardware> machine, request.machine.hardware());
  MONET_TRY(const NumberChoice numbers, choose_numbers(network, *machine, request.train, request.zigzag));
  request.train.precision = numbers.precision();
  MONET_TRY(const std::shared_ptr<const KernelLaws> laws, laws_of(*machine));
  Fusion result{
      .model = network.name(), .hardware = machine->name, .objective = options.objective, .rules = "compiler"};
  result.recipe = numbers.recipe;
  result.recipe_from = name_of(numbers.from);
  if (!request.plan.stacks.empty()) {
    result.notes.push_back(fmt::format("the {} stacks of the plan are replaced", request.plan.stacks.size()));
    request.plan.stacks.clear();
  }
  request.lowering = eager_lowering;
  MONET_TRY(const KernelStep eager, kernel_step(network, request, *machine, *laws));
  request.lowering = compiled_lowering;
  MONET_TRY(KernelStep policy, kernel_step(network, request, *machine, *laws));
  const bool tf32 = request.products == "tf32" || request.train.precision == "tf32";
  const double policy_value = value_of(policy, options.objective);
  const fusion::KernelStacks found = fusion::improved_stacks(
      std::move(policy), *laws,
      {.tf32 = tf32,
       .tries = options.improve ? static_cast<std::size_t>(100 * options.effort) : 0,
       .value = [&](const KernelStep& step) { return value_of(step, options.objective); },
       .stop = options.time_limit_s > 0 ? stop_after(options.time_limit_s, options.stop) : options.stop});
  const double value = found.value;
  result.unchanged = value_of(eager, options.objective) < value;
  const KernelStep& answer = result.unchanged ? eager : found.step;
  if (result.unchanged) {
    request.lowering = eager_lowering;
    result.notes.emplace_back("operators one by one are better than the kernels of a compiler: use --lowering eager");
  } else {
    request.plan.stacks = fusion::stated_stacks(answer);
    result.notes.push_back(
        fmt::format("stacks of a fusing compiler, {}: the plan says so, `monet evaluate --plan` follows it",
                    value < policy_value ? fmt::format("improved by {:.2f} %", 100 * (1 - value / policy_value))
                                         : "as its policy makes them"));
  }
  fill_stacks(result, answer);
  MONET_TRY(const Evaluation evaluation, evaluate_network(network, request));
  result.reach = evaluation.reach;
  result.warnings = evaluation.warnings;
  result.notes.insert(result.notes.end(), evaluation.notes.begin(), evaluation.notes.end());
  result.clock_hz = evaluation.clock_hz;
  result.latency_cycles = evaluation.latency_cycles;
  result.energy_pj = evaluation.energy_pj;
  result.unfused_cycles = eager.costs.total_us * 1e-6 * evaluation.clock_hz;
  result.unfused_pj = eager.costs.total_mj * 1e9;
  result.bound_cycles = evaluation.bound_cycles;
  result.tiles = evaluation.tiles;
  result.evaluated = static_cast<std::int64_t>(found.tried) + 2;
  result.predicted = value;
  result.stopped = found.stopped;
  result.plan_yaml = evaluation.plan_yaml;
  result.wall_s = seconds_since(start);
  return result;
}

}  // namespace monet
