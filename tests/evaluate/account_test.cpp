// Breakdowns of a step that can be added up by hand. Each expected value is the sum written beside it.
#include "evaluate/account_case.h"

#include "evaluate/account/bound.h"
#include "evaluate/account/cores.h"
#include "evaluate/account/critical_path.h"
#include "evaluate/account/downsample.h"
#include "evaluate/account/energy.h"
#include "evaluate/account/occupancy.h"
#include "evaluate/account/operators.h"
#include "evaluate/account/owners.h"
#include "evaluate/account/phases.h"
#include "evaluate/account/price.h"
#include "evaluate/account/totals.h"
#include "evaluate/account/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace monet {
namespace {

using namespace test;
using testing::ElementsAre;

constexpr double tolerance = 1e-9;

// Fetching 100 bytes: read 800 bits of DRAM, write as many (25 words) into a core's memory, bus, wires of DRAM.
constexpr double fetch_100 = 800 * 1 + 800 * 0.2 + 800 * 0.75 + 800 * 0.0625;
// 50 bytes are 400 bits of DRAM, but 13 words of 32 bits in a core's memory.
constexpr double fetch_50 = 400 * 1 + 13 * 6.4 + 400 * 0.75 + 400 * 0.0625;
constexpr double joined_50 = 13 * 6.4;
// 40 bytes from core to core: 10 words read and written, the mesh, wires of the source.
constexpr double pass_40 = 10 * 3.2 + 10 * 6.4 + 320 * 0.125 + 320 * 0.03125;
// 600 bytes are two pages of 4096 bits in flash.
constexpr double page_600 = 4800 * 1 + 2 * 4096 * 2 + 4800 * 1;
constexpr double write_50 = 13 * 3.2 + 400 * 2 + 400 * 0.75 + 400 * 0.0625;

TEST(Account, EnergyOfEachPart) {
  const AccountCase c = account_case();
  const Energy energy = energy_of(c.hardware, c.schedule);
  ASSERT_EQ(energy.compute.size(), 2U);
  EXPECT_EQ(energy.compute[0].first, "fp32");
  EXPECT_NEAR(energy.compute[0].second, 1000 + 1000 + 50, tolerance);
  EXPECT_EQ(energy.compute[1].first, "bf16");
  EXPECT_NEAR(energy.compute[1].second, 300, tolerance);
  // Reads of transfers, what is written back, what a tile streams.
  EXPECT_NEAR(energy.memory[dram.index()], 800 + 400 + 800 + 4800 + 400 * 2 + 960, tolerance);
  EXPECT_NEAR(energy.memory[sram0.index()], 160 + 13 * 6.4 + 64 + 32 + 70 + 30, tolerance);
  EXPECT_NEAR(energy.memory[sram1.index()], 13 * 6.4 + 160 + 32 + 64 + 13 * 3.2 + 70 + 7, tolerance);
  EXPECT_NEAR(energy.memory[flash.index()], 2 * 4096 * 2, tolerance);
  EXPECT_NEAR(energy.link[bus_link.index()], (800 + 400 + 800 + 400) * 0.75, tolerance);
  EXPECT_NEAR(energy.link[mesh_link.index()], 2 * 320 * 0.125, tolerance);
  EXPECT_NEAR(energy.link[card_link.index()], 4800, tolerance);
  EXPECT_NEAR(energy.network, (800 + 400 + 800 + 400) * 0.0625 + 2 * 320 * 0.03125 + 5 + 5 + 20, tolerance);
  EXPECT_NEAR(energy.static_pj, leaked_pj, tolerance);
  const auto of_kind = [&](TransferKind kind) { return energy.transfers[static_cast<std::size_t>(kind)]; };
  EXPECT_NEAR(of_kind(TransferKind::fetch), 2 * fetch_100 + fetch_50 + joined_50, tolerance);
  EXPECT_NEAR(of_kind(TransferKind::write_back), write_50, tolerance);
  EXPECT_NEAR(of_kind(TransferKind::core_to_core), 2 * pass_40, tolerance);
  EXPECT_NEAR(of_kind(TransferKind::page_out), page_600, tolerance);
  EXPECT_EQ(of_kind(TransferKind::page_in), 0);
  const double tiles = 2 * (1000 + 5 + 70) + (300 + 20 + 30 + 960) + (50 + 7);
  EXPECT_NEAR(energy.total,
              tiles + 2 * fetch_100 + fetch_50 + joined_50 + 2 * pass_40 + page_600 + write_50 + leaked_pj, 1e-6);
}

TEST(Account, EffectsThatAreLeftOutCostNothing) {
  AccountCase c = account_case();
  c.hardware.effects.static_energy = false;
  c.hardware.effects.network_energy = false;
  const Energy energy = energy_of(c.hardware, c.schedule);
  EXPECT_EQ(energy.static_pj, 0);
  EXPECT_NEAR(energy.network, 5 + 5 + 20, tolerance);  // of tiles: their costs know
}

TEST(Account, PortOfARouteSetsItsPrice) {
  AccountCase c = account_case();
  c.schedule.channels.push_back({.name = "sram0 wide", .memory = sram0, .port = 0, .bits_per_cycle = 1024});
  c.schedule.routes[0].channels.push_back(5);
  const RoutePrice price = route_prices(c.hardware, c.schedule)[0];
  EXPECT_EQ(price.write.piece_bits, 1024);
  EXPECT_NEAR(price.write.pj_per_bit, 6.4 / 1024, tolerance);
}

TEST(Account, TotalsAreThoseOfTheFullBooks) {
  const AccountCase c = account_case();
  const Totals sums = totals(c.hardware, c.schedule);
  EXPECT_EQ(sums.cycles, 260);
  EXPECT_EQ(sums.energy_pj, energy_of(c.hardware, c.schedule).total);
  EXPECT_THAT(sums.live_peak_bytes, ElementsAre(250, 220, 110, 0, 0));
}

TEST(Account, OccupancyAndWhatIsAliveAtThePeak) {
  const AccountCase c = account_case();
  const std::vector<Occupancy> memories = occupancy_of(c.step(), 100);
  const Occupancy& first = memories[sram0.index()];
  EXPECT_EQ(first.peak_bytes, 220);
  EXPECT_EQ(first.peak_at, 20);
  const auto at_peak = [&](Role role) { return first.peak_by_role[static_cast<std::size_t>(role)]; };
  EXPECT_EQ(at_peak(Role::input), 100);
  EXPECT_EQ(at_peak(Role::weight), 50);
  EXPECT_EQ(at_peak(Role::activation), 40);
  EXPECT_EQ(at_peak(Role::workspace), 30);
  ASSERT_EQ(first.alive_at_peak.size(), 4U);
  EXPECT_EQ(c.graph[first.alive_at_peak[0].tensor].name, "x");
  EXPECT_EQ(first.alive_at_peak[2].bytes, 40);
  EXPECT_EQ(first.alive_at_peak[2].start, 20);
  EXPECT_EQ(first.alive_at_peak[2].end, 200);
  EXPECT_FALSE(first.alive_at_peak[3].tensor.valid());
  EXPECT_EQ(c.graph[first.alive_at_peak[3].node].name, "layer");
  EXPECT_THAT(first.at, ElementsAre(0, 20, 120, 130, 150, 200, 212));
  std::vector<std::int64_t> heights;
  for (const RoleBytes& bytes : first.bytes) heights.push_back(std::accumulate(bytes.begin(), bytes.end(), 0L));
  EXPECT_THAT(heights, ElementsAre(150, 220, 40, 80, 120, 40, 0));
  // Half-open: 100 bytes leave at the moment at which 110 come.
  EXPECT_EQ(memories[sram1.index()].peak_bytes, 110);
  EXPECT_EQ(memories[sram1.index()].peak_at, 100);
}

TEST(Account, BuffersOfATensorAreAddedUp) {
  AccountCase c = account_case();
  c.schedule.stays.clear();
  c.schedule.stays.push_back({10, 50, 40, BufferId(std::size_t{3}), {}, sram0});
  c.schedule.stays.push_back({20, 90, 40, BufferId(std::size_t{4}), {}, sram0});
  const Occupancy memory = occupancy_of(c.step(), 10)[sram0.index()];
  ASSERT_EQ(memory.alive_at_peak.size(), 1U);
  EXPECT_EQ(memory.alive_at_peak[0].bytes, 80);
  EXPECT_EQ(memory.alive_at_peak[0].start, 10);
  EXPECT_EQ(memory.alive_at_peak[0].end, 90);
}

TEST(Account, CoresAreBusyOrIdleForAReason) {
  const AccountCase c = account_case();
  const std::vector<double> gaps = gaps_before(c.step());
  EXPECT_THAT(gaps, ElementsAre(20, 40, 150 - 120, 212 - 130));
  const std::vector<CoreUse> cores = core_use(c.step(), gaps);
  EXPECT_EQ(cores[0].busy.cycles, 100 + 50);
  EXPECT_EQ(cores[0].busy.compute, 60 + 50);
  EXPECT_EQ(cores[0].busy.stall, 20);
  EXPECT_EQ(cores[0].busy.slowed, 100 - 90);
  EXPECT_EQ(cores[0].compute_pj, 1300);
  EXPECT_THAT(cores[0].idle, ElementsAre(0, 20 + 30, 0, 60));
  EXPECT_EQ(cores[1].busy.cycles, 90 + 38);
  EXPECT_THAT(cores[1].idle, ElementsAre(0, 20 + 82, 20, 10));
}

TEST(Account, TrafficOfChannelsAndMemories) {
  const AccountCase c = account_case();
  const TrafficBreakdown traffic = traffic_of(c.step());
  // The bus: four transfers (one of them carries what two receive), and what a tile streams in and out.
  EXPECT_EQ(traffic.channels[0].bytes, 100 + 50 + 100 + 50 + 80 + 40);
  EXPECT_EQ(traffic.channels[0].busy_cycles, 8 * 420 / 64.0);
  EXPECT_NEAR(traffic.channels[0].energy_pj, 2400 * 0.75, tolerance);
  EXPECT_EQ(traffic.channels[1].bytes, 40);
  EXPECT_EQ(traffic.channels[1].busy_cycles, 10);
  EXPECT_EQ(traffic.channels[3].bytes, 600);
  EXPECT_EQ(traffic.channels[4].bytes, 420 + 600);
  EXPECT_NEAR(traffic.channels[4].energy_pj, 800 + 400 + 800 + 4800 + 400 * 2, tolerance);
  EXPECT_EQ(traffic.memories[dram.index()].read_bytes, 100 + 50 + 100 + 600 + 80);
  EXPECT_EQ(traffic.memories[dram.index()].written_bytes, 50 + 40);
  EXPECT_EQ(traffic.memories[sram0.index()].written_bytes, 100 + 50 + 40);
  EXPECT_EQ(traffic.memories[sram1.index()].written_bytes, 50 + 100 + 40);  // also what it received with another
  EXPECT_EQ(traffic.memories[sram1.index()].read_bytes, 40 + 50);
  EXPECT_EQ(traffic.memories[flash.index()].written_bytes, 600);
}

TEST(Account, TransfersBelongToOperators) {
  const AccountCase c = account_case();
  const std::vector<NodeId> owners = owners_of(c.step());
  std::vector<std::string> names;
  for (const NodeId node : owners) names.push_back(c.graph[node].name);
  EXPECT_THAT(names, ElementsAre("layer", "layer", "layer", "layer", "back", "layer", "update", "update"));
  const std::vector<OperatorBreakdown> operators = operator_breakdowns(c.step(), gaps_before(c.step()), owners);
  EXPECT_EQ(operators[0].tiles, 2);
  EXPECT_EQ(operators[0].macs, 2000);
  EXPECT_EQ(operators[0].start, 20);
  EXPECT_EQ(operators[0].end, 130);
  EXPECT_EQ(operators[0].busy.cycles, 190);
  EXPECT_EQ(operators[0].wait_cycles, 60);
  EXPECT_NEAR(operators[0].transfer_pj, 2 * fetch_100 + fetch_50 + joined_50 + page_600, 1e-6);
  EXPECT_EQ(operators[0].home_read_bytes, 100 + 50 + 100 + 600);
  EXPECT_NEAR(operators[1].transfer_pj, pass_40, tolerance);
  EXPECT_EQ(operators[1].home_read_bytes, 80);
  EXPECT_EQ(operators[1].home_write_bytes, 40);
  EXPECT_NEAR(operators[1].energy_pj(), 300 + 20 + 30 + 960 + pass_40, tolerance);
  EXPECT_NEAR(operators[2].transfer_pj, pass_40 + write_50, tolerance);
  EXPECT_EQ(operators[2].home_write_bytes, 50);
}

TEST(Account, CriticalPathReachesFromEndToStart) {
  const AccountCase c = account_case();
  const CriticalPath path = critical_path(c.step(), owners_of(c.step()));
  std::vector<std::pair<double, double>> spans;
  for (const PathStep& step : path.steps) spans.emplace_back(step.start, step.end);
  using P = std::pair<double, double>;
  EXPECT_THAT(spans, ElementsAre(P(0, 20), P(20, 40), P(40, 130), P(130, 142), P(142, 150), P(150, 200), P(200, 212),
                                 P(212, 250), P(250, 260)));
  EXPECT_EQ(path.steps[4].what, PathStep::What::wait);
  const auto spent = [&](PathTime time) { return path.cycles[static_cast<std::size_t>(time)]; };
  EXPECT_NEAR(spent(PathTime::compute), 60 + 50 + 30, tolerance);
  EXPECT_NEAR(spent(PathTime::stall), 20 + 8, tolerance);
  EXPECT_NEAR(spent(PathTime::load), 5, tolerance);
  EXPECT_NEAR(spent(PathTime::fill), 5, tolerance);
  EXPECT_NEAR(spent(PathTime::fetch), 40, tolerance);
  EXPECT_NEAR(spent(PathTime::core_to_core), 24, tolerance);
  EXPECT_NEAR(spent(PathTime::write_back), 10, tolerance);
  EXPECT_NEAR(spent(PathTime::wait), 8, tolerance);
}

TEST(Account, APathThatNamesItselfEnds) {
  AccountCase c = account_case();
  c.schedule.tiles[3].wait = Wait::core;
  c.schedule.tiles[3].by = 3;
  const CriticalPath path = critical_path(c.step(), owners_of(c.step()));
  double sum = 0;
  for (const PathStep& step : path.steps) sum += step.end - step.start;
  EXPECT_NEAR(sum, 260, tolerance);
}

TEST(Account, PhasesShareTheStepAlongTheCriticalPath) {
  const AccountCase c = account_case();
  const std::vector<NodeId> owners = owners_of(c.step());
  const Energy energy = energy_of(c.hardware, c.schedule);
  const auto phases = phase_breakdowns(c.step(), operator_breakdowns(c.step(), gaps_before(c.step()), owners),
                                       critical_path(c.step(), owners), energy.static_pj, energy.total);
  EXPECT_NEAR(phases[0].latency_cycles, 20 + 20 + 90, tolerance);
  EXPECT_NEAR(phases[1].latency_cycles, 12 + 8 + 50, tolerance);
  EXPECT_NEAR(phases[2].latency_cycles, 12 + 38 + 10, tolerance);
  EXPECT_EQ(phases[0].busy_cycles, 190);
  EXPECT_EQ(phases[1].macs, 500);
  EXPECT_EQ(phases[2].start, 212);
  EXPECT_EQ(phases[2].end, 250);
  EXPECT_NEAR(phases[2].energy_pj, 50 + 7 + pass_40 + write_50 + leaked_pj * 60 / 260, 1e-6);
  EXPECT_NEAR(phases[0].energy_pj + phases[1].energy_pj + phases[2].energy_pj, energy.total, 1e-6);
}

TEST(Account, CoresBoundTheLatency) {
  const AccountCase c = account_case();
  const CoreId c0(std::size_t{0}), c1(std::size_t{1});
  std::vector<OperatorBound> operators = {{100, 10, {c0}}, {60, 20, {c1, c0}}, {10, 5, {c1}}};
  Bounds bounds = bounds_of(c.step(), operators);
  EXPECT_EQ(bounds.cycles, 100);  // more than (100 + 60 + 10) / 2
  EXPECT_EQ(bounds.by, "compute on c0");
  // 250 bytes come from DRAM at 1 pJ a bit, 50 go back at 2; 19 mW for 100 ns.
  EXPECT_NEAR(bounds.pj, 35 + 2000 * 1 + 400 * 2 + 0.019 * 100e-9 * 1e12, 1e-6);
  operators[0].core_cycles = 50;
  operators[1].core_cycles = 100;
  bounds = bounds_of(c.step(), operators);
  EXPECT_EQ(bounds.cycles, (50 + 100 + 10) / 2);
  EXPECT_EQ(bounds.by, "compute on 2 cores");
}

TEST(Account, HomeMemoryBoundsTheLatency) {
  AccountCase c = account_case();
  const Compulsory traffic = compulsory_traffic(c.step());
  EXPECT_EQ(traffic.read_bits, 8 * (100 + 100 + 50));
  EXPECT_EQ(traffic.written_bits, 8 * 50);
  EXPECT_EQ(bounds_of(c.step(), {}).cycles, 2400 / 64.0);
  EXPECT_EQ(bounds_of(c.step(), {}).by, "weights and data through the ports of dram");
  // All links out of DRAM together: the bus one way at a time, the card both.
  c.hardware.links[0].bits_per_cycle = 4;
  c.hardware.links[2].bits_per_cycle = 4;
  EXPECT_EQ(bounds_of(c.step(), {}).cycles, 2000 / 8.0);
  EXPECT_EQ(bounds_of(c.step(), {}).by, "weights and data through the links of dram");
  // A core that works right in home memory needs nothing brought.
  c.schedule.home_of = {dram, sram1};
  EXPECT_EQ(bounds_of(c.step(), {}).cycles, 0);
}

TEST(Account, TilesBoundTheirSchedule) {
  AccountCase c = account_case();
  EXPECT_EQ(least_cycles(c.step()), 90 + 50 + 38);  // layer, back, update
  c.schedule.costs[0].cycles = 1000;
  EXPECT_EQ(least_cycles(c.step()), 1000 + 50 + 38);
  c.tiles.reads.clear();
  c.tiles.first_read = {0, 0, 0, 0, 0};
  EXPECT_EQ(least_cycles(c.step()), 1000 + 50);  // both on one core
}

TEST(Account, ThinnedCurvesKeepTheirHighestPoint) {
  const std::vector<std::int64_t> heights = {1, 5, 2, 9, 3, 4, 8, 1, 0};
  EXPECT_THAT(thinned(heights, 100), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(thinned(heights, 4), ElementsAre(0, 3, 6, 8));
  EXPECT_THAT(thinned(heights, 0), ElementsAre(0, 3, 8));
  EXPECT_TRUE(thinned({}, 5).empty());
}

}  // namespace
}  // namespace monet
