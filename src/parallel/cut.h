// One rule for every operator: how it is cut over the chips of a group, from its loop nests.
//
// A loop is cut as an axis is (place.h). Operand axes that follow it are sharded. Operands that do not follow it are
// whole where they are read, and partial where the loop sums into them. A loop cannot be cut when another nest of the
// operator reads such a sum, when an axis follows it in steps or with neighbours, or when what the operator computes
// depends on how long the loop is or where in it a point lies (obstacles.h).
#pragma once

#include "graph/nests.h"
#include "parallel/place.h"

namespace monet::parallel {

// Where one operand is, from which all else follows.
struct Seed {
  bool output = false;
  std::size_t operand = 0;
  Place place;  // sharded
};

struct Cut {
  std::vector<Place> inputs;   // where they must be
  std::vector<Place> outputs;  // where they then are
  Attributes attributes;       // of one chip's operator
};

// Fails with a message that names the loop, without a place.
Expected<Cut> cut(const Graph& graph, const Node& node, std::int64_t chips, const Seed& seed);

// Views, and collectives over other axes of the mesh, have rules of their own. `seed` is an input; of Expand also the
// output.
Expected<Cut> cut_view(const Graph& graph, const Node& node, std::int64_t chips, const Seed& seed);
Expected<Cut> cut_collective(const Graph& graph, const Node& node, std::int64_t chips, const Seed& seed);

// Operators that number the places of an axis: rows of a table, classes of labels, rows of a causal mask. One chip's
// operator has the attributes mesh (empty: the axis that is being cut; StepWriter names it), group and blocks, and
// means its own pieces of the whole axis: what other chips have counts as zero (interpret/own_places.h). Nothing: the
// operator is none of these, or numbers another axis.
std::optional<Cut> cut_numbered(const Graph& graph, const Node& node, std::int64_t chips, const Seed& seed);
// Of attention with a causal mask whose queries alone are cut along their tokens.
bool numbers_query_rows(const Node& node, const std::vector<Place>& inputs);
void set_own_places(Attributes& attributes, std::int64_t chips, std::int64_t blocks);

// How a loop is cut, and where an axis then is.
struct LoopCut {
  std::size_t loop = 0;
  std::int64_t blocks = 1;
  bool operator==(const LoopCut&) const = default;
};

// What an axis does when a loop is cut: it does not follow (whole), or follows (sharded, axis 0), or neither is true
// (an error).
Expected<Place> follow(const AxisIndex& index, const std::vector<Loop>& loops, std::int64_t axis_size,
                       std::int64_t chips, const LoopCut& cut);

// Why the operator cannot be cut there although its nests could: empty, or "depends on ...". Looks at where operands
// are alone.
std::string obstacle(const Graph& graph, const Node& node, const Cut& cut);

// What a sum of terms becomes: where the outputs are if the inputs stay where they are. Nothing: the operator is not
// linear in what is partial.
std::optional<Cut> through_linear(const Graph& graph, const Node& node, const std::vector<Place>& inputs);

// Every output of a node whole, from whole inputs.
Cut whole_cut(const Node& node);

}  // namespace monet::parallel
