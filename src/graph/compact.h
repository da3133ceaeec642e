// Leaves out tensors that nothing refers to: what folding and rewriting left behind.
#pragma once

#include "graph/graph.h"

namespace monet {

// The same graph with only the tensors that a node reads or makes, an input or an output is, or an update replaces.
// `renumbered`, if given, receives the new id of each old tensor; not valid for those that are gone.
Graph compact(Graph graph, std::vector<TensorId>* renumbered = nullptr);

}  // namespace monet
