// The best plans for all budgets, from much memory down to little.
#pragma once

#include "optimize/memory/search.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace monet {

struct BudgetPlan {
  std::int64_t budget_bytes = 0;
  Genome genome;
};

struct SweepOptions {
  std::int64_t most_bytes = 0, least_bytes = 0;  // both are budgets
  double step_bytes = 1;                         // between budgets
  MemorySearchOptions search;                    // for each of them
  std::function<void(std::size_t done, std::size_t all)> progress;
};

// From the most down to the least, each budget beginning where the one above ended. What is found, by rising budget, is
// the best of all that was priced, so that more memory is never worse; budgets for which there is nothing are left out.
// Requires: step_bytes > 0. Of `goal` the budget does not count.
Expected<std::vector<BudgetPlan>> sweep_budgets(MemoryPrices& prices, MemoryGoal goal, const SweepOptions& options);

}  // namespace monet
