// An inspection of a network that is open already.
#pragma once

#include "graph/network_graph.h"

#include <monet/inspect.h>

#include <string>

namespace monet {

// Requires that verify() holds for its graph.
Inspection inspection_of(const std::string& model, const NetworkGraph& network);

// Parts of the text that other reports share.
std::string layer_table(const Inspection& inspection);
std::string operator_table(const Inspection& inspection);

}  // namespace monet
