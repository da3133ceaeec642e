// What each operator took: its tiles, and the transfers that were for it.
#pragma once

#include "evaluate/account/cores.h"
#include "evaluate/account/step.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet {

struct OperatorBreakdown {
  std::int64_t tiles = 0;  // 0: a view
  std::uint32_t cost = 0;  // of one of its tiles, in Schedule::costs
  double macs = 0;
  double start = 0, end = 0;  // of its first and its last tile
  BusyCycles busy;
  double wait_cycles = 0;   // its cores stood still before its tiles
  double bound_cycles = 0;  // of its tiles, as they are cut
  double compute_pj = 0, memory_pj = 0, network_pj = 0, transfer_pj = 0;
  double home_read_bytes = 0, home_write_bytes = 0;  // streamed, fetched, written back, paged

  double energy_pj() const { return compute_pj + memory_pj + network_pj + transfer_pj; }
};

// By node. `gaps` by tile (gaps_before), `owners` by transfer (owners_of).
std::vector<OperatorBreakdown> operator_breakdowns(const ScheduledStep& step, std::span<const double> gaps,
                                                   std::span<const NodeId> owners);

}  // namespace monet
