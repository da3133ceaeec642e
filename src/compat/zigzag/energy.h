// Accesses and energy.
#pragma once

#include "compat/zigzag/state.h"

namespace monet::zigzag {

// Requires move_data() with average lanes. False: data cross where the memory has no port.
bool cost_energy(const Plan& plan, State& state);

}  // namespace monet::zigzag
