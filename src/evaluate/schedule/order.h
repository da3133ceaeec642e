// Which tile goes first where several could.
#pragma once

#include "evaluate/machine/machine.h"
#include "evaluate/plan/assignment.h"
#include "evaluate/plan/dependencies.h"
#include "evaluate/tiles/tile_graph.h"

#include <span>
#include <vector>

namespace monet {

// By tile, a number: the smaller, the earlier. Stacks are ranked as the plan's order says (by the longest way from them
// to the end of the step, counted in cycles, or as listed); where one core runs all and cannot keep all that is made
// before the updates, not by length but as the graph has them, each update where its gradient is made. Inside a stack a
// tile comes as soon as what it needs is there: the tiles that the first tile of the last operator needs, that tile,
// what the second needs in addition …. With the order of the critical path a tile may come before others that it
// depends on; else every tile comes after those.
std::vector<std::uint32_t> tile_order(const Graph& graph, const Dependencies& dependencies,
                                      const RoutedMachine& machine, const Assignment& assignment,
                                      const TileGraph& tiles, std::span<const double> cycles);

}  // namespace monet
