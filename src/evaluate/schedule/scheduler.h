// Puts tiles on cores and transfers on channels, one tile after the other: of the cores that could go on first, the one
// that is free first takes the tile that comes first in the order among those whose inputs are made; its operands are
// fetched as early as there is room for them.
#pragma once

#include "evaluate/cost/tile_costs.h"
#include "evaluate/machine/machine.h"
#include "evaluate/plan/assignment.h"
#include "evaluate/plan/dependencies.h"
#include "evaluate/schedule/schedule.h"
#include "evaluate/tiles/tile_graph.h"

#include <monet/expected.h>

#include <functional>
#include <limits>
#include <vector>

namespace monet {

struct ScheduleInput {
  const Graph& graph;
  const Dependencies& dependencies;
  RoutedMachine& machine;
  const Assignment& assignment;
  const TileGraph& tiles;
  const TileCosts& costs;
  std::vector<std::uint32_t> cost_of;                            // by tile: a cost that is solved
  std::vector<std::uint8_t> streamed;                            // by tile: paths that stream, a bit each
  std::function<bool()> stop = {};                               // asked now and then; true: fails
  double most_cycles = std::numeric_limits<double>::infinity();  // fails as soon as it is sure to be longer
};

// Fails when a tile does not fit the memory it should run in, and when it takes longer than it may.
Expected<Schedule> make_schedule(const ScheduleInput& input);

}  // namespace monet
