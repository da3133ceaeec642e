#include "explore/price/policy.h"

#include "base/prefixes.h"
#include "base/try.h"
#include "evaluate/kernels/lowering_choice.h"
#include "optimize/fusion/fuse.h"
#include "optimize/memory/budget.h"
#include "optimize/memory/least.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::explore {

namespace {

fusion::Objective fusion_objective(SearchObjective objective) {
  switch (objective) {
    case SearchObjective::latency: return fusion::Objective::latency;
    case SearchObjective::energy: return fusion::Objective::energy;
    case SearchObjective::edp: break;
  }
  return fusion::Objective::edp;
}

Expected<Plan> fused_plan(const Policy& policy, SearchObjective objective, const Graph& step, const Hardware& hardware,
                          MappingCache& cache, const EvaluatorOptions& how) {
  constexpr auto most = static_cast<std::int64_t>(fusion::max_limit);
  if (policy.limit < 1 || policy.limit > most) {
    return Error{.message = fmt::format("{} operators are no stack", policy.limit),
                 .place = "the policy's limit",
                 .advice = fmt::format("from 1 to {}", most)};
  }
  // What `monet fuse` improves there on the compiler's own stacks is hardly ever measurable.
  if (how.lowering == compiled_lowering) return Plan{};
  if (runs_kernels(hardware, how.lowering)) {
    return Error{.message = fmt::format("an eager framework runs each operator on {} by itself: there are no stacks",
                                        hardware.name),
                 .place = "the policy",
                 .advice = "lowering: compiled in the workload has those of a compiler"};
  }
  fusion::FuseSettings settings;
  settings.rules.limit = static_cast<std::size_t>(policy.limit);
  settings.objective = fusion_objective(objective);
  settings.evaluator = how;
  settings.improve = policy.improve;
  MONET_TRY(const fusion::Fused fused, fusion::fuse(step, hardware, cache, empty_request(step), settings));
  Plan plan;
  fusion::add_to(plan, step, fused);
  return plan;
}

constexpr const char* budget_place = "the policy's budget";

Expected<Budgets> budgets_of(const Policy& policy, const Hardware& hardware) {
  if (policy.budget.empty()) return budgets_from({}, hardware);
  auto budgets = budgets_from({policy.budget}, hardware);
  if (!budgets) {
    Error error = budgets.error();
    error.place = budget_place;
    return error;
  }
  if (budgets->home) return budgets;
  return Error{.message = fmt::format("\"{}\" is not for the memory that the step's data are in", policy.budget),
               .place = budget_place,
               .advice = fmt::format("give it for {}", hardware[budgets->memory].name)};
}

Expected<Plan> checkpointed_plan(const Policy& policy, SearchObjective objective, const Graph& step,
                                 const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& how) {
  MONET_TRY(const Budgets budgets, budgets_of(policy, hardware));
  const Plan nothing;
  Evaluator evaluator(step, hardware, cache, how);
  const MemorySpace space(step, hardware, evaluator.machine(), nothing, {}, evaluator.element_bits(), {});
  MemoryPrices prices({.step = step,
                       .hardware = hardware,
                       .cache = cache,
                       .how = how,
                       .plan = nothing,
                       .space = space,
                       .memory = budgets.memory,
                       .jobs = 1});
  MONET_TRY(const MemoryPrice* all_kept, prices.price_exactly(space.all_kept()));
  if (!all_kept->failure.empty()) return Error{.kind = ErrorKind::infeasible, .message = all_kept->failure};
  const MemoryGoal goal{.objective = objective,
                        .budget_bytes = std::min(budgets.bytes(all_kept->peak_bytes), budgets.capacity_bytes)};
  const MemorySearchOptions search{.evaluations = policy.evaluations};
  MONET_TRY(const MemoryAnswer answer, MemorySearch(prices, search).search(goal));
  if (answer.feasible) return space.plan(answer.genome);
  MONET_TRY(const LastTry last, try_the_least(prices, goal, search));
  if (last.best) return space.plan(*last.best);
  return Error{.kind = ErrorKind::infeasible,
               .message = fmt::format("{} of {} do not suffice: the least that was found is {} ({} bytes)",
                                      byte_size(goal.budget_bytes), hardware[budgets.memory].name,
                                      byte_size(last.least.peak_bytes), last.least.peak_bytes),
               .place = budget_place};
}

}  // namespace

Expected<Plan> plan_by(const Policy& policy, const Graph& step, const Hardware& hardware, MappingCache& cache,
                       const EvaluatorOptions& how) {
  if (policy.kind == PolicyKind::standard) return Plan{};
  MONET_TRY(const SearchObjective objective, search_objective(policy.objective));
  EvaluatorOptions alone = how;
  alone.jobs = 1;
  alone.progress = nullptr;
  alone.cost.store = nullptr;
  return policy.kind == PolicyKind::fused ? fused_plan(policy, objective, step, hardware, cache, alone)
                                          : checkpointed_plan(policy, objective, step, hardware, cache, alone);
}

}  // namespace monet::explore
