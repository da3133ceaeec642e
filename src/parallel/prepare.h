// Operators in parts that can be cut where the operator itself cannot: a mean as a sum and a division by the number of
// all elements; a product with a bias as a product and a sum; composites as they are defined (graph/expand.h).
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <functional>

namespace monet::parallel {

bool has_parts(const Graph& graph, const Node& node);

// The graph with every node that `wanted` chooses and that has parts in its parts. Other tensors keep their names.
Expected<Graph> in_parts(Graph graph, const std::function<bool(const Node&)>& wanted);

}  // namespace monet::parallel
