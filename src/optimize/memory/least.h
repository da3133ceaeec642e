// The least memory that a step is found to run in: the answer where a budget is too small.
#pragma once

#include "optimize/memory/search.h"

#include <monet/expected.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct LeastMemory {
  Genome genome;
  std::int64_t peak_bytes = 0;
  double cycles = 0;
  // What is alive at its peak, by name and bytes: the largest ten.
  std::vector<std::pair<std::string, std::int64_t>> forced_by;
};

// Within the deadline of `goal`, where that can be; its budget does not count.
Expected<LeastMemory> find_least(MemoryPrices& prices, const MemoryGoal& goal, const MemorySearchOptions& options);

struct LastTry {
  LeastMemory least;
  std::size_t priced = 0;      // plans, beside those that `prices` knows
  std::optional<Genome> best;  // where the least keeps to the goal: the best that is known now
};

// For a goal that nothing known keeps to. The least is searched for without what was priced for the goal: so the same
// search, given as budget what it named, finds it again.
Expected<LastTry> try_the_least(MemoryPrices& prices, const MemoryGoal& goal, const MemorySearchOptions& options);

}  // namespace monet
