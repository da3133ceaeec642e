// Whether stacks are what they claim to be. Shares nothing with the search but the rules.
#pragma once

#include "evaluate/tiles/stored_width.h"
#include "graph/graph.h"
#include "hardware/hardware.h"
#include "optimize/fusion/rules.h"

#include <span>
#include <string>
#include <vector>

namespace monet::fusion {

// Every operator in exactly one stack; each stack by the rules, but for single operators, which are always allowed; and
// an order in which the stacks can run one after the other, each as a whole. Empty, or what is broken first and where.
// What is passed over may be in a stack or in none. `element_bits` by tensor.
std::string check_stacks(const Graph& graph, const Hardware& hardware, const Rules& rules,
                         std::span<const std::vector<NodeId>> stacks, std::span<const StoredWidth> element_bits);

}  // namespace monet::fusion
