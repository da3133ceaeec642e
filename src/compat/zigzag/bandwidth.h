// What a layer wants of the highest memory, and what it means when cores share that: how Stream chooses a mapping.
#pragma once

#include "compat/zigzag/state.h"

#include <cstdint>

namespace monet::zigzag {

// Bits a cycle that an operand moves to and from its highest memory. Requires cost_latency().
double top_bandwidth(const Plan& plan, const State& state, std::size_t operand);

// The whole cycles of the latency, times the widths of the highest memory's port that `cores` of them need together. Of
// the operands with the most levels, the first that is no output is taken to be the same for all cores; those with
// fewer levels are left out.
double latency_when_shared(const Plan& plan, const State& state, std::int64_t cores);

}  // namespace monet::zigzag
