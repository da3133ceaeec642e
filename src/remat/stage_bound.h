// A lower bound from an integer program: what is in memory at the rows where room lacks most, and what is run again
// between them.
#pragma once

#include "remat/prices.h"
#include "remat/repair.h"

#include <limits>
#include <optional>

namespace monet::remat {

struct StageOptions {
  Moves moves;                                             // recompute, page
  double below = std::numeric_limits<double>::infinity();  // a price that is known to be possible
  std::size_t most_variables = 2000;                       // fewer rows are looked at when there are more
  double time_limit_s = std::numeric_limits<double>::infinity();
  Stop stop = [] { return false; };
};

struct StageResult {
  // No sequence within the budget, with first runs in the given order, costs less; or `below`, if that is less.
  // Infinite: no sequence fits.
  double bound = 0;
  // What the program would do, made into a sequence; it may be over the budget at rows that were not looked at.
  std::optional<Sequence> sequence;
};

// Rows that are not looked at, and memory between those that are, count for nothing.
StageResult stage_bound(const Problem& problem, const Prices& prices, std::int64_t budget, const StageOptions& options);

}  // namespace monet::remat
