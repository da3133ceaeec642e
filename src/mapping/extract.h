// From an operator of a graph to the problems that its nests are.
#pragma once

#include "graph/graph.h"
#include "mapping/problem.h"

#include <span>
#include <string>
#include <vector>

namespace monet {

struct ExtractOptions {
  // Costs every element as this precision ("int8"), whatever its format. Empty: as the formats say.
  std::string precision;
};

// One for each nest, in the order in which they run. A view has none.
std::vector<Problem> problems_of(const Graph& graph, const Node& node, const ExtractOptions& options = {});

// Joins loops that no operand and no dimension of the unit can tell apart: fewer loops, the same costs. Two loops join
// when each operand has both as axes of their own, or neither. Loops in `named` stay as they are.
Problem coalesce(const Problem& problem, const Unit& unit, std::span<const Dim> named = {});

}  // namespace monet
