// The gradient of a tensor that slices cut into pieces, as the graph spells it: a sum of the pieces' gradients, each
// between zeros.
#pragma once

#include "graph/graph.h"

#include <optional>
#include <vector>

namespace monet::lowering {

// The nodes that put the zeros, in the order of their pieces; nothing where the inputs of `sum` are no pieces of one
// axis that fill it.
std::optional<std::vector<NodeId>> pieces_of_sum(const Graph& graph, const Readers& readers, const Node& sum);

// The axis along which such a node puts zeros.
std::size_t axis_of_piece(const Graph& graph, NodeId piece);

}  // namespace monet::lowering
