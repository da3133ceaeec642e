// What this folder starts from: a scheduled step, which it breaks down into every number of a result. Folders before
// this one: plan, tiles, schedule.
#pragma once

#include "evaluate/plan/assignment.h"
#include "evaluate/schedule/schedule.h"
#include "evaluate/tiles/tile_graph.h"
#include "graph/graph.h"
#include "hardware/hardware.h"

namespace monet {

// A scheduled step with all that its schedule speaks of. References only: what they name must live longer.
struct ScheduledStep {
  const Graph& graph;
  const Hardware& hardware;
  const Assignment& assignment;
  const TileGraph& tiles;
  const Schedule& schedule;
};

constexpr std::size_t transfer_kinds = 5;  // of TransferKind

inline double length(const ScheduledTile& tile) { return tile.end - tile.start; }
inline double bits(const ScheduledTransfer& transfer) { return 8.0 * static_cast<double>(transfer.bytes); }

}  // namespace monet
