// Loading before the first operation and unloading after the last.
#pragma once

#include "compat/zigzag/state.h"

namespace monet::zigzag {

// Requires state.real and state.stall. Sets state.onload, state.offload and state.borrowed.
void cost_loading(const Plan& plan, State& state);

// One load or unload that happens once, and may happen while the lanes work.
struct SingleLoad {
  double cycles;
  double least;  // cycles that cannot be hidden
};

// Shortens the loads together by up to `spare` cycles, the longest first. With `negative` as ZigZag does it: every load
// that is at least as long is shortened by as much as the one in turn, whatever its own least.
void shorten(std::span<SingleLoad> loads, double spare, bool negative);

}  // namespace monet::zigzag
