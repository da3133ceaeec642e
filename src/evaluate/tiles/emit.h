// Reads, writes and buffers of the tiles, from grids and cells.
#pragma once

#include "evaluate/tiles/content.h"

namespace monet::tiling {

// Fails when there are more reads than options allow.
Expected<TileGraph> emit(const GraphContent& content, PlanCells plan, const TileOptions& options);

}  // namespace monet::tiling
