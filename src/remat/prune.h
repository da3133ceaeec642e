// Takes out runs that are not needed.
#pragma once

#include "remat/prices.h"
#include "remat/sequence.h"

#include <functional>

namespace monet::remat {

// Repeats whose output nobody reads; with `reorder`, also first runs of that kind that are computed again later.
// `profile` is of `sequence`, before and after.
void drop_unused(Sequence& sequence, Profile& profile, bool reorder);

// Also repeats without which the budget is kept: the earlier run then lives longer. Dearest first. Requires, and
// leaves, a sequence within the budget with `profile` of it. `stop`: true ends it early.
void prune(Sequence& sequence, Profile& profile, const Prices& prices, std::int64_t budget, const Problem& problem,
           bool reorder, const std::function<bool()>& stop);

}  // namespace monet::remat
