// Books balance on any schedule, and say what a slow count at every moment says.
#include "evaluate/account/cores.h"
#include "evaluate/account/critical_path.h"
#include "evaluate/account/energy.h"
#include "evaluate/account/occupancy.h"
#include "evaluate/account/operators.h"
#include "evaluate/account/owners.h"
#include "evaluate/account/phases.h"
#include "evaluate/account/totals.h"
#include "evaluate/account/traffic.h"
#include "evaluate/account_case.h"
#include "mapping/random_cases.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

namespace monet {
namespace {

using namespace test;

// Tiles one after the other on each core, transfers at any time; what they wait for has ended before. Times are small
// whole numbers, so that many things happen at once. Data need not be where they are read: breakdowns do not ask.
AccountCase random_account_case(std::uint64_t seed) {
  Random random(seed);
  AccountCase c = account_case();
  Schedule& s = c.schedule;
  s.tiles.clear();
  s.transfers.clear();
  s.stays.clear();
  s.home.clear();
  for (Memory& memory : c.hardware.memories) {
    memory.read_pj = static_cast<double>(random.between(0, 64));
    memory.write_pj = static_cast<double>(random.between(0, 64));
  }
  std::vector<double> free = {0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto core = static_cast<std::size_t>(random.between(0, 1));
    const auto cost = static_cast<std::uint32_t>(random.between(0, 3));
    const double start = free[core] + static_cast<double>(random.between(0, 3) * 10);
    const double end = start + s.costs[cost].cycles + static_cast<double>(random.between(0, 2) * 10);
    free[core] = end;
    s.tiles.push_back({.start = start, .end = end, .cost = cost, .core = CoreId(core)});
    if (random.chance(0.5)) s.tiles.back().read_route = 0;
  }
  for (std::int64_t i = random.between(0, 20); i > 0; --i) {
    const double start = static_cast<double>(random.between(0, 20) * 10);
    const auto route = static_cast<std::uint32_t>(random.between(0, 6));
    s.transfers.push_back({.start = start,
                           .end = start + static_cast<double>(random.between(0, 5) * 10),
                           .bytes = random.between(1, 1000),
                           .buffer = BufferId(static_cast<std::size_t>(random.between(0, 6))),
                           .from = s.routes[route].from,
                           .to = s.routes[route].to,
                           .route = route,
                           .kind = static_cast<TransferKind>(random.between(0, 4)),
                           .joined = random.chance(0.2)});
  }
  const auto wait_for = [&](auto& item) {
    std::vector<std::pair<Wait, std::uint32_t>> choices = {{Wait::nothing, 0}};
    for (std::uint32_t i = 0; i < s.tiles.size(); ++i) {
      if (static_cast<const void*>(&item) != &s.tiles[i] && s.tiles[i].end <= item.start) {
        choices.emplace_back(random.one_of<Wait>({Wait::core, Wait::data, Wait::memory}), i);
      }
    }
    for (std::uint32_t i = 0; i < s.transfers.size(); ++i) {
      if (static_cast<const void*>(&item) != &s.transfers[i] && s.transfers[i].end <= item.start) {
        choices.emplace_back(random.one_of<Wait>({Wait::transfer, Wait::room}), i);
      }
    }
    std::tie(item.wait, item.by) = random.one_of(choices);
  };
  for (ScheduledTile& tile : s.tiles) wait_for(tile);
  for (ScheduledTransfer& transfer : s.transfers) wait_for(transfer);
  s.cycles = 0;
  for (const ScheduledTile& tile : s.tiles) s.cycles = std::max(s.cycles, tile.end);
  for (const ScheduledTransfer& transfer : s.transfers) s.cycles = std::max(s.cycles, transfer.end);
  for (std::int64_t i = random.between(0, 60); i > 0; --i) {
    const double start = std::min(s.cycles, static_cast<double>(random.between(0, 30) * 10));
    const double end = std::min(s.cycles, start + static_cast<double>(random.between(0, 8) * 10));
    const std::int64_t bytes = random.between(0, 100);
    const MemoryId memory(static_cast<std::size_t>(random.between(0, 4)));
    if (random.chance(0.3)) {
      s.home.push_back({start, end, bytes, TensorId(static_cast<std::size_t>(random.between(0, 4))), memory});
    } else if (random.chance(0.2)) {
      s.stays.push_back({start, end, bytes, {}, TileId(static_cast<std::size_t>(random.between(0, 3))), memory});
    } else {
      s.stays.push_back({start, end, bytes, BufferId(static_cast<std::size_t>(random.between(0, 6))), {}, memory});
    }
  }
  return c;
}

RoleBytes held_at(const AccountCase& c, MemoryId memory, double time) {
  RoleBytes bytes{};
  const auto add = [&](const auto& stay) {
    if (stay.memory == memory && stay.start <= time && time < stay.end) {
      bytes[static_cast<std::size_t>(role_of(c.step(), stay))] += stay.bytes;
    }
  };
  for (const Stay& stay : c.schedule.stays) add(stay);
  for (const TensorStay& stay : c.schedule.home) add(stay);
  return bytes;
}

std::int64_t all_bytes(const RoleBytes& bytes) { return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}); }

TEST(AccountRandom, OccupancyIsThatOfEveryMoment) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const AccountCase c = random_account_case(seed);
    std::set<double> times;
    for (const Stay& stay : c.schedule.stays) times.insert({stay.start, stay.end});
    for (const TensorStay& stay : c.schedule.home) times.insert({stay.start, stay.end});
    const std::vector<std::int64_t> peaks = live_peaks(c.hardware.memories.size(), c.schedule);
    const std::vector<Occupancy> memories = occupancy_of(c.step(), 1000);
    const std::vector<Occupancy> thin = occupancy_of(c.step(), 5);
    for (std::size_t m = 0; m < peaks.size(); ++m) {
      std::int64_t most = 0;
      double at = 0;
      for (const double time : times) {
        const std::int64_t bytes = all_bytes(held_at(c, MemoryId(m), time));
        if (bytes > most) most = bytes, at = time;
      }
      ASSERT_EQ(peaks[m], most) << seed;
      ASSERT_EQ(memories[m].peak_bytes, most) << seed;
      ASSERT_EQ(memories[m].peak_at, at) << seed;
      for (std::size_t i = 0; i < memories[m].at.size(); ++i) {
        ASSERT_EQ(memories[m].bytes[i], held_at(c, MemoryId(m), memories[m].at[i])) << seed;
      }
      std::int64_t alive = 0;
      for (const Alive& a : memories[m].alive_at_peak) alive += a.bytes;
      ASSERT_EQ(alive, most) << seed;
      ASSERT_LE(thin[m].at.size(), 5U);
      std::int64_t highest = 0;
      for (const RoleBytes& bytes : thin[m].bytes) highest = std::max(highest, all_bytes(bytes));
      ASSERT_EQ(highest, most) << seed;
    }
  }
}

// Many stays at any time, and long flat stretches: the quick count against one that sorts.
TEST(AccountRandom, PeaksOfManyStays) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    AccountCase c = account_case();
    c.schedule.cycles = 1e6;
    c.schedule.stays.clear();
    const std::int64_t longest = random.one_of<std::int64_t>({10, 10'000, 1'000'000});
    for (std::int64_t i = random.between(1, 20'000); i > 0; --i) {
      const double start = static_cast<double>(random.between(0, 999'999)) + 0.25 * static_cast<double>(i % 3);
      const double end = std::min(1e6, start + static_cast<double>(random.between(0, longest)));
      c.schedule.stays.push_back({start,
                                  end,
                                  random.between(0, 10) * 64,
                                  BufferId(std::size_t{0}),
                                  {},
                                  MemoryId(static_cast<std::size_t>(random.between(0, 2)))});
    }
    const std::vector<std::int64_t> peaks = live_peaks(c.hardware.memories.size(), c.schedule);
    for (std::size_t m = 0; m < peaks.size(); ++m) {
      std::map<double, std::int64_t> change;
      const auto add = [&](const auto& stay) {
        if (stay.memory != MemoryId(m)) return;
        change[stay.start] += stay.bytes;
        change[stay.end] -= stay.bytes;
      };
      for (const Stay& stay : c.schedule.stays) add(stay);
      for (const TensorStay& stay : c.schedule.home) add(stay);
      std::int64_t held = 0, most = 0;
      for (const auto& entry : change) {
        held += entry.second;
        most = std::max(most, held);
      }
      ASSERT_EQ(peaks[m], most) << seed;
    }
  }
}

// Every transfer by itself, from the machine's own numbers.
double transfers_alone(const AccountCase& c) {
  double pj = 0;
  for (const ScheduledTransfer& transfer : c.schedule.transfers) {
    const std::int64_t bits = transfer.bytes * 8;
    const auto access = [&](MemoryId id, bool read) {
      const Memory& memory = c.hardware[id];
      const bool local = id == sram0 || id == sram1;
      const Port& port = memory.ports[local ? (read ? 1 : 2) : 0];
      const std::int64_t piece = memory.page_bits > 0 ? memory.page_bits : port.min_bits;
      const double moved = static_cast<double>((bits + piece - 1) / piece * piece);
      return moved / static_cast<double>(port.max_bits) * (read ? memory.read_pj : memory.write_pj);
    };
    pj += access(transfer.to, false);
    if (transfer.joined) continue;
    pj += access(transfer.from, true);
    const bool away = transfer.kind == TransferKind::write_back || transfer.kind == TransferKind::page_out;
    pj += static_cast<double>(bits) * c.hardware[away ? transfer.to : transfer.from].network_pj_per_bit;
    for (const ChannelUse& use : c.schedule.routes[transfer.route].channels) {
      if (!c.schedule.channels[use.channel].link.valid()) continue;
      const Link& link = c.hardware[c.schedule.channels[use.channel].link];
      pj += static_cast<double>(bits) * link.energy_pj_per_bit +
            static_cast<double>(bits) / link.bits_per_cycle * link.energy_pj_per_cycle;
    }
  }
  return pj;
}

TEST(AccountRandom, EnergyAddsUpEveryWay) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const AccountCase c = random_account_case(seed);
    const Energy energy = energy_of(c.hardware, c.schedule);
    double parts = 0;
    for (const auto& part : energy.compute) parts += part.second;
    for (const double part : energy.memory) parts += part;
    for (const double part : energy.link) parts += part;
    parts += energy.network;
    parts += energy.static_pj;
    ASSERT_EQ(energy.total, parts) << seed;
    const double moved = std::accumulate(energy.transfers.begin(), energy.transfers.end(), 0.0);
    ASSERT_NEAR(moved, transfers_alone(c), 1e-9 * energy.total) << seed;
    double tiles = 0;
    for (const ScheduledTile& tile : c.schedule.tiles) {
      const TileCost& cost = c.schedule.costs[tile.cost];
      tiles += cost.compute_pj + cost.network_pj;
      for (const double pj : cost.level_pj) tiles += pj;
    }
    ASSERT_NEAR(energy.total, tiles + moved + energy.static_pj, 1e-9 * energy.total) << seed;

    const std::vector<NodeId> owners = owners_of(c.step());
    const auto breakdowns = operator_breakdowns(c.step(), gaps_before(c.step()), owners);
    double operators = energy.static_pj;
    for (const OperatorBreakdown& row : breakdowns) operators += row.energy_pj();
    for (std::size_t i = 0; i < owners.size(); ++i) ASSERT_TRUE(owners[i].valid()) << seed;
    ASSERT_NEAR(energy.total, operators, 1e-9 * energy.total) << seed;
    const auto phases =
        phase_breakdowns(c.step(), breakdowns, critical_path(c.step(), owners), energy.static_pj, energy.total);
    double by_phase = 0, latency = 0;
    for (const PhaseBreakdown& phase : phases) by_phase += phase.energy_pj, latency += phase.latency_cycles;
    ASSERT_NEAR(energy.total, by_phase, 1e-9 * energy.total) << seed;
    ASSERT_NEAR(c.schedule.cycles, latency, 1e-9 * c.schedule.cycles) << seed;
  }
}

TEST(AccountRandom, TimeAddsUpOnCoresAndOnTheCriticalPath) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const AccountCase c = random_account_case(seed);
    const double cycles = c.schedule.cycles;
    for (const CoreUse& core : core_use(c.step(), gaps_before(c.step()))) {
      const BusyCycles& busy = core.busy;
      ASSERT_NEAR(busy.cycles, busy.compute + busy.stall + busy.load + busy.fill + busy.slowed, 1e-9 * cycles) << seed;
      ASSERT_NEAR(cycles, std::accumulate(core.idle.begin(), core.idle.end(), busy.cycles), 1e-9 * cycles) << seed;
    }
    const CriticalPath path = critical_path(c.step(), owners_of(c.step()));
    double at = 0;
    for (const PathStep& step : path.steps) {
      ASSERT_EQ(step.start, at) << seed;
      ASSERT_GE(step.end, step.start) << seed;
      at = step.end;
    }
    ASSERT_EQ(at, cycles) << seed;
    ASSERT_NEAR(std::accumulate(path.cycles.begin(), path.cycles.end(), 0.0), cycles, 1e-9 * cycles) << seed;
  }
}

TEST(AccountRandom, EveryByteThatLeavesArrives) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const AccountCase c = random_account_case(seed);
    const TrafficBreakdown traffic = traffic_of(c.step());
    double read = 0, written = 0, streamed = 0, stored = 0, joined = 0;
    for (const MemoryBreakdown& memory : traffic.memories) read += memory.read_bytes, written += memory.written_bytes;
    for (const ScheduledTile& tile : c.schedule.tiles) {
      streamed += c.schedule.costs[tile.cost].home_read_bits / 8;
      stored += c.schedule.costs[tile.cost].home_write_bits / 8;
    }
    for (const ScheduledTransfer& transfer : c.schedule.transfers) {
      if (transfer.joined) joined += static_cast<double>(transfer.bytes);
    }
    ASSERT_NEAR(read - streamed + joined, written - stored, 1e-6) << seed;
  }
}

}  // namespace
}  // namespace monet
