#include "evaluate/account/cores.h"

#include <algorithm>
#include <tuple>

namespace monet {

namespace {

Idle cause_of(Wait wait) {
  switch (wait) {
    case Wait::data: return Idle::data;
    case Wait::transfer: return Idle::transfer;
    case Wait::memory:
    case Wait::room: return Idle::memory;
    case Wait::nothing:
    case Wait::core: break;
  }
  return Idle::nothing;
}

}  // namespace

std::string_view name_of(Idle cause) {
  static constexpr std::array<std::string_view, idle_causes> names = {"data", "transfer", "memory", "nothing to do"};
  return names[static_cast<std::size_t>(cause)];
}

void BusyCycles::add(const ScheduledTile& tile, const TileCost& cost) {
  cycles += length(tile);
  compute += cost.compute_cycles;
  stall += cost.stall_cycles;
  load += cost.load_cycles;
  fill += cost.fill_cycles;
  slowed += length(tile) - cost.cycles;
}

std::vector<double> gaps_before(const ScheduledStep& step) {
  const std::vector<ScheduledTile>& tiles = step.schedule.tiles;
  std::vector<std::uint32_t> order(tiles.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(tiles[a].start, tiles[a].end, a) < std::tie(tiles[b].start, tiles[b].end, b);
  });
  std::vector<double> free_at(step.hardware.cores.size(), 0);
  std::vector<double> gaps(tiles.size(), 0);
  for (const std::uint32_t i : order) {
    double& free = free_at[tiles[i].core.index()];
    gaps[i] = std::max(0.0, tiles[i].start - free);
    free = std::max(free, tiles[i].end);
  }
  return gaps;
}

std::vector<CoreUse> core_use(const ScheduledStep& step, const std::vector<double>& gaps) {
  const Schedule& schedule = step.schedule;
  std::vector<CoreUse> cores(step.hardware.cores.size());
  std::vector<double> free_at(cores.size(), 0);
  for (std::size_t i = 0; i < schedule.tiles.size(); ++i) {
    const ScheduledTile& tile = schedule.tiles[i];
    CoreUse& core = cores[tile.core.index()];
    core.busy.add(tile, schedule.costs[tile.cost]);
    // A transfer that waited for room: so did the core, until it began.
    double for_room = 0;
    if (tile.wait == Wait::transfer && tile.by < schedule.transfers.size()) {
      const ScheduledTransfer& transfer = schedule.transfers[tile.by];
      if (transfer.wait == Wait::memory || transfer.wait == Wait::room) {
        for_room = std::clamp(gaps[i] - (tile.start - transfer.start), 0.0, gaps[i]);
      }
    }
    core.idle[static_cast<std::size_t>(Idle::memory)] += for_room;
    core.idle[static_cast<std::size_t>(cause_of(tile.wait))] += gaps[i] - for_room;
    core.compute_pj += schedule.costs[tile.cost].compute_pj;
    free_at[tile.core.index()] = std::max(free_at[tile.core.index()], tile.end);
  }
  for (std::size_t i = 0; i < cores.size(); ++i) {
    cores[i].idle[static_cast<std::size_t>(Idle::nothing)] += std::max(0.0, schedule.cycles - free_at[i]);
  }
  return cores;
}

}  // namespace monet
