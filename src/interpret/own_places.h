// Operators that number the places of an axis of which a chip has its pieces alone (attributes mesh, group and blocks):
// the operator on the whole axis, where what other chips have is zero, and of its results along that axis the chip's
// own pieces. A slice starts at the chip's piece.
#pragma once

#include "interpret/interpret.h"

namespace monet {

// Whether a node, no collective, is one of them.
bool has_own_places(const Node& node);

// The results of one, on the chip with that coordinate along the axis.
Expected<std::vector<Array>> execute_own_places(const Graph& graph, const Node& node,
                                                std::span<const Array* const> inputs, std::int64_t coordinate,
                                                const RunOptions& options);

}  // namespace monet
