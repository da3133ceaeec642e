// How much data crosses every link, how often, and how many bits each element has there.
#pragma once

#include "compat/zigzag/state.h"

namespace monet::zigzag {

// Requires allocate(). Energy and fill need average lanes, time whole ones.
void move_data(const Plan& plan, State& state, std::size_t variant);

}  // namespace monet::zigzag
