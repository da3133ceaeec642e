// An inspection of a network that is open already.
#pragma once

#include "graph/network_graph.h"

#include <monet/inspect.h>

#include <string>

namespace monet {

// Requires that verify() holds for its graph.
Inspection inspection_of(const std::string& model, const NetworkGraph& network);

}  // namespace monet
