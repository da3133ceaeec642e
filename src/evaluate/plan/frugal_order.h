// An order of stacks in which little is alive at any moment.
#pragma once

#include "evaluate/plan/dependencies.h"
#include "graph/graph.h"

#include <vector>

namespace monet {

// `stacks` in their order, but for those that free more bytes than they need: they run as soon as they can (the update
// of a weight directly after its gradient, not at the end of the step), and for scalars, which others wait for. What is
// recomputed stays where it is, just before its first reader. Requires: `stacks` can run in the order given, and hold
// every operator but views once. Cost: n log n.
std::vector<std::vector<NodeId>> frugal_order(const Graph& graph, const Dependencies& dependencies,
                                              std::vector<std::vector<NodeId>> stacks);

}  // namespace monet
