// Where to draw the nodes of a step.
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet {

struct NodePlace {
  std::int64_t x = 0, y = 0;
};

// By node; no two nodes are at one place. Four bands side by side: the forward part, which runs down; copies that are
// recomputed, each beside what it repeats; the backward part, which runs up, each operator beside the one that it
// differentiates; the optimizer, each operator beside the gradient that it reads. A chain is straight.
// O((n + e) log n).
// `repeats`: by node, the forward node that it repeats (RewrittenStep::repeats); empty: not known.
std::vector<NodePlace> node_places(const Graph& graph, std::span<const NodeId> repeats = {});

}  // namespace monet
