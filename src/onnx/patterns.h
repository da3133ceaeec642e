// Constants of a simple pattern (a fill, a causal mask) as the operators that make them.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

namespace monet::onnx {

// The graph with every patterned constant that is larger than its recipe made by nodes in front of the others.
Expected<Graph> spell_out_patterns(Graph graph);

}  // namespace monet::onnx
