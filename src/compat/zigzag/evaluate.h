// The whole model for one order of the temporal loops.
#pragma once

#include "compat/zigzag/state.h"

#include <limits>

namespace monet::zigzag {

enum class Verdict : std::uint8_t { costed, too_small, no_port, too_costly };

// More than this, and the time of the order does not matter.
struct Ceiling {
  double energy_pj = std::numeric_limits<double>::infinity();
};

// Everything but the order is in the plan; `state` keeps what is found. No allocation. `too_costly`: energy is above
// the ceiling; time is not known.
Verdict evaluate(const Plan& plan, std::span<const Factor> order, const Ceiling& ceiling, State& state);

}  // namespace monet::zigzag
