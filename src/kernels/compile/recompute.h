// What the backward part reads of the forward part: kept, or computed again where it is read.
#pragma once

#include "kernels/compile/parts.h"

namespace monet::compiling {

// Keeps the buffers of least bytes from which the backward part can compute the rest element by element (a minimum cut,
// as PyTorch's partitioner makes it), and adds launches that do so before their first reader. What a library
// reads in the backward part is kept: it would have to be written anyway. A buffer that the forward part would not
// write otherwise counts twice: it is written and read.
// Requires: in `step` every forward buffer is written by one launch, but for those that are there before the step.
void recompute_cheap(LoweredStep& step, const Graph& graph);

}  // namespace monet::compiling
