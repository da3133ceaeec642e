// Whether a core has what an operator needs, apart from room.
#pragma once

#include "graph/graph.h"
#include "hardware/hardware.h"

#include <span>
#include <string>

namespace monet {

// Why it cannot run the node: its list of operators leaves it out, or no unit has the operations of one of its nests.
// Empty: it can; a view needs no core.
std::string why_not_on(const Core& core, const Graph& graph, const Node& node);
// The same for an operator whose nests do these operations at each point.
std::string why_not_on(const Core& core, Op op, std::span<const Counts> nests);

}  // namespace monet
