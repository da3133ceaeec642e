// How each core spends the step: busy + idle = makespan.
#pragma once

#include "evaluate/account/step.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace monet {

// Why a core stands still: the reason of the tile that comes next.
enum class Idle : std::uint8_t {
  data,      // it was not made yet
  transfer,  // it was on its way
  memory,    // there was no room
  nothing,   // to do: also after the last tile
};
constexpr std::size_t idle_causes = 4;
std::string_view name_of(Idle cause);

// Cycles of tiles on cores. cycles = compute + stall + load + fill + slowed, as long as TileCost::cycles is what its
// own parts add up to.
struct BusyCycles {
  double cycles = 0;
  double compute = 0, stall = 0, load = 0, fill = 0;
  double slowed = 0;  // longer than the tile wants, because memory or links were shared

  void add(const ScheduledTile& tile, const TileCost& cost);
};

struct CoreUse {
  BusyCycles busy;
  std::array<double, idle_causes> idle{};
  double compute_pj = 0;
};

// By tile: how long its core stood still before it.
std::vector<double> gaps_before(const ScheduledStep& step);

std::vector<CoreUse> core_use(const ScheduledStep& step, const std::vector<double>& gaps);

}  // namespace monet
