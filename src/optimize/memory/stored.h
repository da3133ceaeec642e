// The step with its data at home in storage: operators come to memory in parts that fit, and go back. What plans that
// keep data in memory are too large for runs so, in whatever a core has room for.
#pragma once

#include "optimize/memory/prices.h"
#include "optimize/memory/search.h"

#include <monet/expected.h>
#include <monet/plan.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace monet {

// Storage in which data can be at home on that machine.
std::vector<MemoryId> homes_in_storage(const Hardware& hardware);

// No plan with data at home in memory needs less: where cores work in it, an operator's operands are there together.
// 0: cores have memories of their own.
std::int64_t least_in_memory(const Graph& step, const RoutedMachine& machine,
                             std::span<const StoredWidth> element_bits);

struct StoredPlan {
  Plan plan;  // complete: gives the same result again
  std::vector<BoundTensor> tensors;
  Price price;
  std::int64_t peak_bytes = 0;  // of the memory of the budget, with addresses
};

struct StoredSearchOptions {
  std::size_t evaluations = 60;  // plans that are priced
  bool recompute = true;
  bool reorder = true;
  std::function<bool()> stop;
  std::function<void(std::size_t priced)> progress;
};

struct StoredAnswer {
  std::optional<StoredPlan> best;  // within the goal; checked by the independent checker
  std::size_t priced = 0;
  std::string failure;  // why there is none
};

// Orders, how much of the memory one part takes, and what is computed again instead of being stored. The budget of the
// goal is how much of `memory` may be filled, with addresses.
Expected<StoredAnswer> search_stored(const MemoryPricesInput& input, const MemoryGoal& goal, MemoryId storage,
                                     const StoredSearchOptions& options);

}  // namespace monet
