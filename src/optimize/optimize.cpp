#include "base/quantities.h"
#include "base/stop.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "evaluate/account/bound.h"
#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/open/step_on_machine.h"
#include "optimize/joint/joint.h"
#include "optimize/joint/lowerings.h"
#include "optimize/memory/budget.h"

#include <monet/optimize.h>
#include <monet/plan.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace monet {

namespace {

using Clock = std::chrono::steady_clock;

class Optimizing {
 public:
  // `both_lowerings`: an eager framework and a compiler, on a graphics processor.
  Optimizing(const OptimizeOptions& options, OpenedStep opened_step, Plan plan, bool both_lowerings)
      : options_(options),
        opened_step_(std::move(opened_step)),
        plan_(std::move(plan)),
        both_lowerings_(both_lowerings) {}

  Expected<Optimization> run(Optimization result, Hardware hardware) {
    MONET_TRY(objective_, search_objective(options_.objective));
    MONET_TRY(how_, evaluator_options(options_.evaluate));
    UntilFirst first(options_.time_limit_s, options_.stop);
    how_.stop = first.stop();
    MONET_TRY(budgets_, budgets_from(options_.budgets, std::move(hardware)));
    result.notes.insert(result.notes.end(), budgets_.notes.begin(), budgets_.notes.end());
    MONET_TRY(const std::vector<BoundTensor> decided, bind_tensors(plan_, opened_step_.graph, budgets_.hardware));
    pricer_.emplace(opened_step_.graph, budgets_.hardware, cache_, how_);
    MONET_TRY(const Priced priced, pricer_->price(plan_, decided));
    MONET_TRY(const std::int64_t peak, pricer_->packed_peak(priced, budgets_.memory));
    first.found();
    set_bound(result, priced);
    if (options_.function) objective_ = PlanValue(options_.function, budgets_.hardware.clock_hz);
    JointOptions joint{.objective = objective_,
                       .memory = budgets_.memory,
                       .budget_bytes = budgets_.bytes(peak),
                       .fuse = options_.fuse,
                       .decide = options_.decide,
                       .place = options_.place,
                       .space = {.recompute = options_.recompute,
                                 .page = options_.page,
                                 .page_static = options_.page_static,
                                 .reorder = options_.reorder},
                       .rounds = options_.rounds,
                       .evaluations = options_.evaluations,
                       .population = options_.population,
                       .generations = options_.generations,
                       .plans = options_.plans,
                       .seed = options_.seed,
                       .jobs = static_cast<std::size_t>(options_.evaluate.jobs),
                       .time_limit_s = options_.time_limit_s - seconds_since(begun_),
                       .stop = options_.stop,
                       .progress = options_.progress,
                       .found = options_.found};
    joint.rules.limit = static_cast<std::size_t>(options_.limit);
    if (!options_.deadline.empty()) {
      MONET_TRY(joint.deadline_cycles,
                deadline_from(options_.deadline, priced.price.cycles, budgets_.hardware.clock_hz));
      result.deadline_cycles = joint.deadline_cycles;
    }
    result.memory = budgets_.hardware[budgets_.memory].name;
    result.budget_bytes = joint.budget_bytes;
    for (std::string& warning : budgets_.warnings(joint.budget_bytes)) result.warnings.push_back(std::move(warning));
    const auto search = both_lowerings_ ? optimize_lowerings : optimize_jointly;
    MONET_TRY(const JointResult found,
              search(opened_step_.graph, budgets_.hardware, cache_, how_, plan_, decided, joint));
    MONET_TRY(result.start, described(found.start));
    for (const JointPlan& plan : found.front) {
      MONET_TRY(OptimizedPlan next, described(plan));
      next.why = result.plans.empty() ? fastest(next) : better_than(next, result.plans.back());
      result.plans.push_back(std::move(next));
    }
    recommend(result);
    if (!result.plans.empty()) result.reach = reach_of(budgets_.hardware, result.plans[result.recommended].lowering);
    result.feasible = !result.plans.empty();
    result.least_bytes = found.least_bytes;
    result.evaluated = found.evaluated;
    result.complete = found.complete;
    return result;
  }

 private:
  void set_bound(Optimization& result, const Priced& priced) {
    const Bounds bounds = bounds_of(priced.scheduled(budgets_.hardware), priced.variant->evaluator.operator_bounds(),
                                    BoundFor::recomputed_steps);
    result.bound_cycles = bounds.cycles;
    result.bound_pj = bounds.pj;
  }

  Expected<OptimizedPlan> described(const JointPlan& joint) {
    OptimizedPlan plan;
    plan.latency_cycles = joint.price.cycles;
    const double clock = budgets_.hardware.clock_hz;
    plan.latency_s = clock > 0 ? joint.price.cycles / clock : 0;
    plan.energy_pj = joint.price.energy_pj;
    plan.peak_bytes = joint.peak_bytes;
    if (objective_.is_function()) plan.value = objective_(joint.price, joint.peak_bytes);
    plan.order = name_of(joint.plan.order);
    plan.placed = joint.placed;
    MONET_TRY(const std::vector<BoundTensor> tensors, bind_tensors(joint.plan, opened_step_.graph, budgets_.hardware));
    const auto& width = pricer_->original().evaluator.element_bits();
    for (const BoundTensor& tensor : tensors) {
      if (tensor.retention == Retention::keep) continue;
      const Tensor& what = opened_step_.graph[tensor.tensor];
      (tensor.retention == Retention::page ? plan.paged : plan.recomputed).push_back(what.name);
      plan.saved_bytes_dropped += width[tensor.tensor.index()].bytes(element_count(what.type.shape));
    }
    plan.stacks = static_cast<std::int64_t>(joint.stacks);
    plan.lowering = joint.plan.lowering.empty() ? nests_lowering : joint.plan.lowering;
    plan.plan_yaml = to_yaml(joint.complete);
    return plan;
  }

  double value_of(const OptimizedPlan& plan) const {
    if (objective_.is_function()) return plan.value;
    return monet::value_of({.cycles = plan.latency_cycles, .energy_pj = plan.energy_pj, .peak_bytes = {}},
                           objective_.of_parts());
  }

  // Of those that are nearly the best in the objective, the one with the smallest product of latency, energy and
  // memory.
  void recommend(Optimization& result) const {
    constexpr double nearly = 0.01;
    if (result.plans.empty()) return;
    const auto value = [this](const OptimizedPlan& plan) { return value_of(plan); };
    const auto best = std::ranges::min_element(result.plans, {}, value);
    const double most = value(*best) + nearly * std::abs(value(*best));
    const auto product = [](const OptimizedPlan& plan) {
      return plan.latency_cycles * plan.energy_pj * static_cast<double>(std::max<std::int64_t>(1, plan.peak_bytes));
    };
    auto chosen = best;
    for (auto plan = result.plans.begin(); plan != result.plans.end(); ++plan) {
      if (value(*plan) <= most && product(*plan) < product(*chosen)) chosen = plan;
    }
    result.recommended = static_cast<std::size_t>(chosen - result.plans.begin());
    const std::string what = objective_.is_function() ? "the objective" : std::string(name_of(objective_.of_parts()));
    if (chosen == best) {
      result.recommended_why = fmt::format("the best in {}", what);
      return;
    }
    const auto change = [](double now, double then, const char* of) {
      return fmt::format("{:.1f}% {} {}", std::abs(100 * (now / then - 1)), now < then ? "less" : "more", of);
    };
    result.recommended_why = fmt::format(
        "within {:.1f}% of the best in {}, with {} and {} than that one", 100 * (value(*chosen) / value(*best) - 1),
        what, change(chosen->energy_pj, best->energy_pj, "energy"),
        change(static_cast<double>(chosen->peak_bytes), static_cast<double>(best->peak_bytes), "memory"));
  }

  std::string fastest(const OptimizedPlan& plan) const {
    return both_lowerings_ ? fmt::format("the fastest: lowering {}", plan.lowering) : "the fastest";
  }

  // Of two plans of the front, the second is slower: what it is better in.
  static std::string better_than(const OptimizedPlan& plan, const OptimizedPlan& before) {
    std::vector<std::string> gains;
    const auto percent = [](double now, double then) { return fmt::format("{:.1f}%", 100 * (1 - now / then)); };
    if (plan.energy_pj < before.energy_pj) gains.push_back(percent(plan.energy_pj, before.energy_pj) + " less energy");
    if (plan.peak_bytes < before.peak_bytes)
      gains.push_back(byte_size(before.peak_bytes - plan.peak_bytes) + " less memory");
    if (plan.value < before.value) gains.emplace_back("a smaller objective");
    std::vector<std::string> means;
    const auto count = [&](std::size_t now, std::size_t then, const char* what) {
      if (now != then)
        means.push_back(
            fmt::format("{} {} {}", now > then ? now - then : then - now, now > then ? "more" : "fewer", what));
    };
    count(plan.recomputed.size(), before.recomputed.size(), "tensors recomputed");
    count(plan.paged.size(), before.paged.size(), "tensors paged");
    count(static_cast<std::size_t>(plan.stacks), static_cast<std::size_t>(before.stacks), "fused stacks");
    if (plan.lowering != before.lowering) means.push_back("lowering " + plan.lowering);
    if (plan.order != before.order) means.push_back("order " + plan.order);
    if (plan.placed != before.placed) means.emplace_back(plan.placed ? "cores by search" : "cores by the policy");
    if (means.empty())
      means.emplace_back(plan.recomputed != before.recomputed ? "other tensors recomputed" : "other cores");
    return fmt::format("{} for {:.2f}% more time: {}", fmt::join(gains, ", "),
                       100 * (plan.latency_cycles / before.latency_cycles - 1), fmt::join(means, ", "));
  }

  const OptimizeOptions& options_;
  OpenedStep opened_step_;
  Plan plan_;
  bool both_lowerings_ = false;
  std::chrono::steady_clock::time_point begun_ = Clock::now();
  PlanValue objective_;
  Budgets budgets_;
  MappingCache cache_;
  EvaluatorOptions how_;
  std::optional<Pricer> pricer_;
};

// What there is to search where kernels run one after the other on all of the chip.
const char* of_kernels(bool both_lowerings, const OptimizeOptions& options) {
  if (both_lowerings)
    return "searched: what is recomputed, and whether an eager framework runs the step or a fusing compiler, with "
           "which stacks; kernels have no cores, tiles or order to choose, and nothing is paged";
  if (options.evaluate.lowering == compiled_lowering && options.fuse)
    return "searched: what is recomputed, and the stacks of a fusing compiler; kernels have no cores, tiles or order "
           "to choose, and nothing is paged";
  return "searched: what is recomputed; kernels as they are launched have no stacks, cores, tiles or order to choose, "
         "and nothing is paged";
}

}  // namespace

Expected<Optimization> optimize_network(const Network& network, const OptimizeOptions& given) {
  const auto start = Clock::now();
  OptimizeOptions options = given;
  Optimization result{.model = network.name(), .objective = options.function ? "own" : options.objective};
  MONET_TRY(StepOnMachine opened, open_step_on_machine(network, options.evaluate, false));
  describe(opened, result);
  const bool kernels = options.evaluate.lowering != nests_lowering;
  const bool both = kernels && options.fuse && given.evaluate.lowering.empty() && given.evaluate.plan.lowering.empty();
  if (kernels) result.notes.emplace_back(of_kernels(both, options));
  Optimizing optimizing(options, std::move(opened.opened_step), std::move(opened.plan), both);
  MONET_TRY(result, optimizing.run(std::move(result), std::move(opened.hardware)));
  result.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace monet
