// Runs one chip's step on all chips of a mesh in lock step: every chip executes the same node before any goes on.
#pragma once

#include "graph/mesh.h"
#include "interpret/interpret.h"

#include <functional>
#include <vector>

namespace monet {

struct RankOptions {
  RunOptions run;
  // Results, by chip, of a node that draws at random (is_random), given its inputs by chip: what is drawn belongs to a
  // place of the whole tensor, which one chip's step does not know. Without it each chip draws alike.
  std::function<Expected<std::vector<std::vector<Array>>>(NodeId node,
                                                          const std::vector<std::vector<const Array*>>& inputs)>
      chance = {};
};

// `values`: by chip, as of run(). Afterwards they hold the value of every tensor.
// Sums over a group are taken in the order of its chips, so that all of them get the same bits.
Status run_ranks(const Graph& graph, const Mesh& mesh, std::vector<Values>& values, const RankOptions& options = {});

// The `blocks` pieces of `whole` along an axis that chip `coordinate` of `group` has, and back.
Array piece_of(const Array& whole, std::size_t axis, std::int64_t blocks, std::int64_t group, std::int64_t coordinate);
Array joined(const std::vector<const Array*>& pieces, std::size_t axis, std::int64_t blocks);

}  // namespace monet
