// A set of operators as a graph of its own.
#pragma once

#include "graph/graph.h"

#include <span>
#include <vector>

namespace monet::fusion {

struct Extracted {
  Graph graph;
  std::vector<NodeId> nodes;  // in it, by operator of the set
};

// What comes from outside is an input, what is read outside or leaves the step is an output; views come along with
// those that read them. Roles, formats and known values stay; names are made from positions and the phase is the first
// one, so that sets of equal content give equal graphs (evaluate/plan/hash.h).
// `nodes` in the order of the graph, without views; `readers` of `graph`.
Extracted extract(const Graph& graph, const Readers& readers, std::span<const NodeId> nodes);

}  // namespace monet::fusion
