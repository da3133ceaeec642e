// Nodes as Stream reads them, with what was added to it for training graphs: each that it knows is one product of two
// operands under named loops, in 8 bits with sums of 16, which ZigZag then costs. Its reading is kept where it departs
// from the operator's meaning: element-wise operators multiply and accumulate; pools go through all channels for each
// channel; the gradient of a pool is a dense transposed convolution; a bias is free, and so is what it does not know.
#pragma once

#include "compat/zigzag/layer.h"

#include <optional>
#include <span>
#include <string>

namespace monet {

// `extents`: loops of the node, named as in its nests, that a tile has fewer iterations of. Nothing: it is free.
std::optional<ZigzagLayer> stream_layer(const Graph& graph, const Node& node, std::span<const Loop> extents = {});

}  // namespace monet
