// What no plan within a memory budget can do better than.
#pragma once

#include "evaluate/account/bound.h"
#include "optimize/memory/prices.h"

#include <cstdint>

namespace monet {

struct MemoryBound {
  double cycles = 0;
  double energy_pj = 0;
  // At one operator of the backward part all saved tensors that are kept are alive beside weights and optimizer state:
  // so many bytes, of which memories on chip may hold a part. What a budget leaves no room for must be dropped.
  std::int64_t together_bytes = 0;
  std::int64_t on_chip_bytes = 0;
};

// `operators`: bounds of the step as it is, by node; `step`: it, scheduled in any way.
// Cycles and energy: those of the step as it is, and the cheapest way to drop enough: for every tensor its last
// operator once more, or its bytes out and in again, by parts of tensors where that is cheaper (a knapsack's
// relaxation); weights that are read before and after that moment are among them, and come back for being read. And
// what outlives the step and finds no room in the budget: read once, and written if it is replaced.
MemoryBound memory_bound(const ScheduledStep& step, const RoutedMachine& machine,
                         std::span<const OperatorBound> operators, const MemorySpace& space, MemoryId memory,
                         std::int64_t budget_bytes);

}  // namespace monet
