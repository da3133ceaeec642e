// Checks a schedule against what it must keep to, from the graph, the machine and the plan alone: shares data types
// with what made it, no code. Near-linear in tiles, reads, transfers and stays.
//
// What holds when it finds nothing:
// - tiles: the grid of each operator covers every point of its loops once, as the plan cuts them; a tile writes
// elements
//   of its own buffers only, and needs nothing of another tile between its nests
// - cores: each tile runs once, on the core of its piece, which can run it, no shorter than it takes; no core runs two
//   tiles at once; busy and idle time are the step
// - dependencies: a tile reads exactly the buffers that hold the elements it needs, after they are complete; tiles that
//   add to one buffer follow each other
// - presence: what a tile reads and writes is in a memory of its core while it runs, and was brought there or made
//   there; what it streams is at home
// - transfers: data are complete at the source, the destination has room, the route exists in the machine and is not
//   exceeded, and no channel carries more than it can: work that is released at the start and due at the end of each
//   transfer and of each streaming tile can be done in time (earliest deadline first)
// - memories: what stays in one is never more than it holds; stays are half-open
// - storage: what outlives the step is at home all the time, results are at home at the end, what is overwritten is not
//   read afterwards, what the plan pages out is away in between; weights and optimizer state that it pages are where it
//   says all the time, their new values at the end, and at home from a use to a use of one part of the step
#pragma once

#include "evaluate/plan/assignment.h"
#include "evaluate/schedule/schedule.h"
#include "evaluate/tiles/stored_width.h"
#include "evaluate/tiles/tile_graph.h"
#include "graph/graph.h"
#include "hardware/hardware.h"

#include <monet/expected.h>

#include <cstddef>
#include <string>
#include <vector>

namespace monet {

struct CheckOptions {
  bool streams = true;  // what streams is counted as the model does; ZigZag leaves some of it out
  // Tiles whose elements are looked at one by one, chosen evenly; the first and the last of an operator always are. All
  // other rules are checked for everything.
  std::size_t sample = 1024;
  std::size_t keep = 20;  // violations that are kept in words; all are counted
  // Width of the elements, by tensor, where the tiles were made with others than the formats say.
  std::vector<StoredWidth> element_bits;
  std::vector<MemoryId> too_small;  // memories that are known not to hold all of it: that is then no finding
};

struct Violation {
  std::string what;  // with names and times
};

struct CheckReport {
  std::vector<Violation> violations;  // the first ones
  std::size_t count = 0;
  std::string looked_at;  // one line: "4,312 tiles (1,024 by element), 9,120 reads, …"
};

CheckReport check_schedule(const Graph& graph, const Hardware& hardware, const Assignment& assignment,
                           const TileGraph& tiles, const Schedule& schedule, const CheckOptions& options = {});

// The first violation as a defect.
Status verify_schedule(const Graph& graph, const Hardware& hardware, const Assignment& assignment,
                       const TileGraph& tiles, const Schedule& schedule, const CheckOptions& options = {});

}  // namespace monet
