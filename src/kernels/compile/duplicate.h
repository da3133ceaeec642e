// What several kernels compute each for itself.
#pragma once

#include "kernels/compile/parts.h"

namespace monet::compiling {

// Gives every reader its own copy of a launch that computes element by element from at most four operands, as long as
// none of them is a library (PyTorch's realize_reads_threshold).
void duplicate_cheap(LoweredStep& step, const Graph& graph);

}  // namespace monet::compiling
