// Which memory level holds which temporal loops.
#pragma once

#include "compat/zigzag/state.h"

namespace monet::zigzag {

// Fills memories bottom-up: each takes as many of the loops that are left, operand by operand, as fit it together and
// make the fewest elements cross to the level above; the highest of a path takes all that is left. Then loops at the
// bottom of a level that leave its operand alone sink to the level below. False: a memory is too small.
bool allocate(const Plan& plan, State& state);

}  // namespace monet::zigzag
