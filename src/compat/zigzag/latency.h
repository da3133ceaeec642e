// Time: computing, waiting for ports, loading before the first and unloading after the last operation.
#pragma once

#include "compat/zigzag/state.h"

namespace monet::zigzag {

// Requires move_data() for average lanes and for plan.time.
void cost_latency(const Plan& plan, State& state);

// A link's part of a port's time: `window` cycles at the start of every period, `times` periods.
struct PortWindow {
  double period;
  double window;
};

// Cycles of the longest period that are in at least one window. Periods divide each other.
double windows_union(std::span<PortWindow> windows);

}  // namespace monet::zigzag
