// In which layout a compiler runs convolutions.
#pragma once

#include "graph/graph.h"

namespace monet::compiling {

// PyTorch's rule for networks that are trained (torch/_inductor/graph.py, decide_layout_opt): channels last, unless the
// graph has 300 operators or more for each convolution, a convolution has groups of several channels, one with a window
// has at least twice as many channels in as out, or all have at most 64 channels in and out.
bool prefers_channels_last(const Graph& graph);

}  // namespace monet::compiling
