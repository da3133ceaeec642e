// An order in which stacks can run one after the other, or why there is none.
#pragma once

#include "config/yaml.h"
#include "evaluate/plan/dependencies.h"

#include <monet/expected.h>

#include <span>
#include <string>
#include <vector>

namespace monet {

struct StackNodes {
  std::string name;           // for messages; may be empty
  std::vector<NodeId> nodes;  // at least one; no node is in two stacks
  Place place;
};

// All operators but views: the stacks, and each of the rest by itself, as the graph has them wherever there is a
// choice. With `listed`, the stacks keep their order among themselves. Fails when stacks wait for each other: an
// operator outside a stack lies between two inside, or several stacks form a ring. The message names the operators.
Expected<std::vector<std::vector<NodeId>>> run_order(const Graph& graph, const Dependencies& dependencies,
                                                     std::span<const StackNodes> stacks, bool listed = false);

}  // namespace monet
