// Costs that the user gives, for operators of their own or instead of what is known of others.
#pragma once

#include "graph/graph.h"

#include <monet/evaluate.h>

#include <string>

namespace monet {

// All of an operator, without a core. Its loops are those of its nests, each name once; of a custom operator those over
// its first output. `precision`: in which numbers are kept, whatever the formats say; may be empty.
CustomTile custom_tile(const Graph& graph, const Node& node, const std::string& precision);

// Equal for equal tiles alone.
std::string key_of(const CustomTile& tile);

// The same costs: one thread at a time asks for them, once for each different tile, and costs that are negative, no
// numbers or above 1e18 are errors. Copies share what they know. Empty stays empty.
CustomCosts asked_once(CustomCosts costs);

}  // namespace monet
