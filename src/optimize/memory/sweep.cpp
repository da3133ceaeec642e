#include "optimize/memory/sweep.h"

#include "base/try.h"

#include <algorithm>

namespace monet {

Expected<std::vector<BudgetPlan>> sweep_budgets(MemoryPrices& prices, MemoryGoal goal, const SweepOptions& options) {
  std::vector<std::int64_t> budgets;
  const auto least = static_cast<double>(options.least_bytes);
  for (auto at = static_cast<double>(options.most_bytes); at > least; at -= options.step_bytes) {
    budgets.push_back(static_cast<std::int64_t>(at));
  }
  budgets.push_back(options.least_bytes);
  Genome before;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    goal.budget_bytes = budgets[i];
    MONET_TRY(MemoryAnswer answer, MemorySearch(prices, options.search).search(goal, before));
    before = std::move(answer.genome);
    if (options.progress) options.progress(i + 1, budgets.size());
  }
  std::ranges::sort(budgets);
  std::vector<BudgetPlan> plans;
  for (const std::int64_t budget : budgets) {
    goal.budget_bytes = budget;
    MONET_TRY(MemoryAnswer answer, best_known(prices, goal));
    if (answer.feasible) plans.push_back({.budget_bytes = budget, .genome = std::move(answer.genome)});
  }
  return plans;
}

}  // namespace monet
