// What crosses each channel, and what each memory gives and takes.
#pragma once

#include "evaluate/account/step.h"

#include <vector>

namespace monet {

struct ChannelBreakdown {
  double bytes = 0;
  double busy_cycles = 0;  // at its full width
  // A link: what it carries. A port: accesses of transfers through it. What tiles stream over the link of
  // a level is in the energy of tiles.
  double energy_pj = 0;
};

struct MemoryBreakdown {
  double read_bytes = 0, written_bytes = 0;
};

struct TrafficBreakdown {
  std::vector<ChannelBreakdown> channels;  // by channel
  std::vector<MemoryBreakdown> memories;   // by memory: transfers, and what tiles stream from and to home memory
};

TrafficBreakdown traffic_of(const ScheduledStep& step);

// Where a tile streams from or to, over the route that it has, else at home of its core.
MemoryId streams_from(const Schedule& schedule, const ScheduledTile& tile);
MemoryId streams_to(const Schedule& schedule, const ScheduledTile& tile);

}  // namespace monet
