// No schedule costs less than this: the bounds of this folder, the quick ones first.
#pragma once

#include "remat/goal.h"
#include "remat/repair.h"

#include <limits>
#include <optional>

namespace monet::remat {

// Prices closer than this, relatively, are equal: sums of the same costs in another order.
inline constexpr double equal_prices = 1e-9;

struct BoundOptions {
  Moves moves;                                             // recompute, page
  double known = std::numeric_limits<double>::infinity();  // a price that is possible; infinite: none is known
  double time_limit_s = std::numeric_limits<double>::infinity();
  Stop stop = [] { return false; };
};

struct Bound {
  double price = 0;                  // infinite: it is certain that nothing fits
  std::optional<Sequence> sequence;  // met on the way, and cheaper than what was known
  std::vector<Sequence> starts;      // that a search may go on from; they may be over the budget
};

// For first runs in the given order. Transfers are taken as free in time and the deadline is left out, both of which
// can only make schedules cheaper: a schedule with this price is the best one. Deterministic as long as time is left.
Bound lower_bound(const Problem& problem, const Goal& goal, const BoundOptions& options);

}  // namespace monet::remat
