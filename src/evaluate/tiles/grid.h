// The grid of tiles of one operator.
#pragma once

#include "evaluate/tiles/cuttable.h"

#include <span>

namespace monet::tiling {

struct Grid {
  std::vector<GridAxis> axes;
  std::vector<std::uint8_t> loops;  // by axis: in Cuttable::loops
  std::int64_t tiles = 1;
};

// Fails with the node's name as place when a loop is not there, cannot be cut, is cut twice, or a number does not fit
// it, and when there are more tiles than `limit`.
Expected<Grid> grid_of(const Graph& graph, NodeId id, std::span<const LoopCut> cuts, const Cuttable& cuttable,
                       std::int64_t limit);

}  // namespace monet::tiling
