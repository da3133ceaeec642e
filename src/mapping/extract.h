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
  // Products of wider numbers run in this precision ("tf32", "bf16"); elements stay as they are. Empty: as they are.
  std::string products;
  // Products of numbers without blocks may run in blocks, where a unit has nothing else.
  bool to_blocks = false;
};

// One for each nest, in the order in which they run. A view has none.
std::vector<Problem> problems_of(const Graph& graph, const Node& node, const ExtractOptions& options = {});

// The problem with some of its loops cut down to fewer iterations: a tile of it. `adds`: to what a tile before it has
// left in the output.
Problem tile_of(const Problem& problem, std::span<const Loop> extents, bool adds);

// The path on which each input comes, as its nests have it: a product takes its two factors by two paths. Of several
// nests that read it the first product decides. `problems`: those of the node.
std::vector<Path> input_paths(const Graph& graph, const Node& node, std::span<const Problem> problems);

// Joins loops that no operand and no dimension of the unit can tell apart: fewer loops, the same costs. Two loops join
// when each operand has both as axes of their own, or neither. Loops in `named` stay as they are.
Problem coalesce(const Problem& problem, const Unit& unit, std::span<const Dim> named = {});

}  // namespace monet
