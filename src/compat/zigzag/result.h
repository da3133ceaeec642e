// What the search found, in words that do not need the plan.
#pragma once

#include "compat/zigzag/search.h"
#include "compat/zigzag/state.h"

namespace monet::zigzag {

// Requires that `state` was costed with `plan`.
ZigzagResult result_of(const ZigzagLayer& layer, const Plan& plan, const State& state, const ArrayMapping& mapping,
                       const Unrolling& unrolling);

}  // namespace monet::zigzag
