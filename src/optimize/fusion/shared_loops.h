// Loops of several operators that run over the same axis of what passes between them: cut together, the operators work
// on matching tiles.
#pragma once

#include "evaluate/tiles/build.h"
#include "graph/graph.h"

#include <vector>

namespace monet::fusion {

struct LoopOf {
  NodeId node;
  Loop loop;
};

struct SharedLoop {
  std::vector<LoopOf> members;  // one for each operator at most; only loops along which it can be cut
  bool reduces = false;         // one of them adds up
};

// Those of most operators first; where the graph has several operators, only what at least two of them share.
// Loops are followed through transposes, reshapes that keep an axis or its outermost part, slices and concatenations
// along other axes.
std::vector<SharedLoop> shared_loops(const Graph& graph, const TilingGraph& tiling);

}  // namespace monet::fusion
