// The public result of a step that is added up by hand (evaluate/account_test.cpp), and of such steps in a row.
#include "evaluate/run/result.h"

#include "evaluate/account/energy.h"
#include "evaluate/account_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace monet {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::Pair;

double sum(const Parts& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0, [](double s, const auto& part) { return s + part.second; });
}

Evaluation evaluation_of(const AccountCase& c, FillOptions options = {.trace = true, .lifetimes = true}) {
  const CoreId c0(std::size_t{0}), c1(std::size_t{1});
  const std::vector<OperatorBound> bounds = {{120, 0, {c0, c1}}, {40, 0, {c0}}, {30, 0, {c1}}};
  Evaluation evaluation;
  fill(evaluation, c.step(), bounds, options);
  return evaluation;
}

TEST(EvaluationParts, TotalsAndRows) {
  const AccountCase c = account_case();
  const Evaluation e = evaluation_of(c);
  EXPECT_EQ(e.latency_cycles, 260);
  EXPECT_EQ(e.latency_s, 260e-9);
  EXPECT_EQ(e.energy_pj, energy_of(c.hardware, c.schedule).total);
  EXPECT_EQ(e.energy_pj, sum(e.energy));
  EXPECT_EQ(e.energy[0].first, "compute fp32");
  EXPECT_EQ(e.energy[2].first, "memory dram");
  EXPECT_EQ(e.energy.back().first, "static");
  EXPECT_EQ(e.macs, 2500);
  EXPECT_DOUBLE_EQ(e.utilization, 2500 / (8 * 260.0));  // eight lanes, all in one core
  EXPECT_EQ(e.nodes, 3);
  EXPECT_EQ(e.stacks, 3);
  EXPECT_EQ(e.tiles, 4);
  EXPECT_EQ(e.transfers, 8);
  EXPECT_EQ(e.bound_cycles, (120 + 40 + 30) / 2);
  EXPECT_THAT(e.footprint_bytes, ElementsAre(Pair("input", 200), Pair("weight", 50)));
  ASSERT_EQ(e.operators.size(), 3U);
  EXPECT_EQ(e.operators[0].name, "layer");
  EXPECT_EQ(e.operators[0].phase, "forward");
  EXPECT_THAT(e.operators[0].cores, ElementsAre("c0", "c1"));
  EXPECT_EQ(e.operators[0].bound_cycles, 120);
  EXPECT_FALSE(e.operators[0].recomputed);
  EXPECT_EQ(e.phases[1].phase, "backward");
  EXPECT_EQ(e.phases[1].latency_cycles, 70);
}

TEST(EvaluationParts, ResourcesAreBusyOrIdle) {
  const Evaluation e = evaluation_of(account_case());
  ASSERT_EQ(e.resources.size(), 2U + 5U);
  for (const ResourceResult& row : e.resources) EXPECT_NEAR(row.busy_cycles + row.idle_cycles, 260, 1e-9) << row.name;
  const ResourceResult& core = e.resources[0];
  EXPECT_DOUBLE_EQ(core.busy_cycles,
                   core.compute_cycles + core.stall_cycles + core.load_cycles + core.fill_cycles + core.slowed_cycles);
  EXPECT_THAT(core.idle_by, ElementsAre(Pair("transfer", 50), Pair("nothing to do", 60)));
  EXPECT_EQ(e.resources[2].kind, "bus");
  EXPECT_EQ(e.resources[3].kind, "link");
  EXPECT_EQ(e.resources[6].kind, "port");
  EXPECT_DOUBLE_EQ(e.resources[2].utilization, 52.5 / 260);
}

TEST(EvaluationParts, MemoriesWithTheirPeaks) {
  const AccountCase c = account_case();
  PackedStays packed;
  packed.home = {0, 200};
  packed.stays.assign(c.schedule.stays.size(), -1);
  packed.peak_bytes = {256, 0, 0, 0, 0};
  const Evaluation e = evaluation_of(c, {.lifetimes = true, .packed = &packed});
  ASSERT_EQ(e.memories.size(), 4U);  // nothing uses the registers
  EXPECT_EQ(e.memories[0].name, "dram");
  EXPECT_EQ(e.memories[0].packed_peak_bytes, 256);
  EXPECT_EQ(e.memories[0].capacity_bytes, 4096);
  const MemoryResult& local = e.memories[1];
  EXPECT_EQ(local.live_peak_bytes, 220);
  EXPECT_EQ(sum(local.peak_by_role), 220);
  EXPECT_EQ(local.alive_at_peak[0].name, "x");
  EXPECT_EQ(local.alive_at_peak[3].name, "workspace of layer");
  EXPECT_THAT(local.roles, ElementsAre("input", "weight", "activation", "weight gradient", "workspace"));
  EXPECT_THAT(local.curve[1], ElementsAre(100, 50, 40, 0, 30));
  EXPECT_EQ(e.lifetimes[1].address, 200);
  EXPECT_EQ(e.lifetimes[2].name, "x [0]");
  EXPECT_EQ(e.lifetimes[2].address, -1);
  EXPECT_EQ(e.lifetimes[4].name, "workspace of layer");
}

TEST(EvaluationParts, CriticalPathInWords) {
  AccountCase c = account_case();
  const Evaluation e = evaluation_of(c);
  std::vector<std::string> names;
  for (const CriticalStep& step : e.critical_path) names.push_back(step.kind + " " + step.name);
  EXPECT_THAT(names, ElementsAre("transfer fetch x", "compute layer", "stall layer", "transfer core to core a",
                                 "wait back", "compute back", "transfer core to core g", "compute update",
                                 "stall update", "transfer write back w.new"));
  EXPECT_EQ(e.critical_path[0].end, 40);  // both pieces of x
  EXPECT_NEAR(sum(e.critical_by_kind), 260, 1e-9);
}

TEST(EvaluationParts, TraceSaysWhy) {
  AccountCase c = account_case();
  c.schedule.transfers[5].wait = Wait::memory;
  c.schedule.transfers[5].by = 1;
  c.schedule.tiles[2].wait = Wait::core;
  c.schedule.tiles[2].by = 0;
  const Evaluation e = evaluation_of(c);
  ASSERT_EQ(e.trace.size(), 4U + 8U);
  EXPECT_EQ(e.trace[0].track, "core c0");
  EXPECT_EQ(label_of(e.trace[0]), "layer [0]");
  EXPECT_EQ(e.trace[0].kind, "forward");
  EXPECT_EQ(cause_of(e.trace[0], e), "waited for fetch x");
  EXPECT_EQ(e.trace[0].flow_from(), 4);
  EXPECT_EQ(cause_of(e.trace[2], e), "the core was busy with layer [0]");
  EXPECT_EQ(e.trace[2].flow_from(), -1);
  EXPECT_EQ(cause_of(e.trace[4], e), "");
  EXPECT_EQ(cause_of(e.trace[7], e), "no room before fetch x was done");
  EXPECT_EQ(cause_of(e.trace[8], e), "waited for layer [1]");
  EXPECT_EQ(e.trace[8].flow_from(), 1);
  EXPECT_EQ(e.trace[8].track, "link mesh back");
  EXPECT_EQ(e.trace[8].bytes, 40);
  EXPECT_EQ(cause_of(e.trace[9], e), "no room before layer [1] was done");
}

TEST(EvaluationParts, TraceSaysWhatIsCritical) {
  const Evaluation e = evaluation_of(account_case());
  std::vector<std::string> critical;
  for (const TraceEvent& event : e.trace) {
    if (event.critical) critical.push_back(label_of(event));
  }
  EXPECT_THAT(critical, ElementsAre("layer [1]", "back", "update", "fetch x", "fetch x", "core to core a",
                                    "core to core g", "write back w.new"));
  EXPECT_EQ(e.trace[1].operator_row, 0);
  EXPECT_EQ(e.trace[1].part, 1);
  EXPECT_EQ(e.trace[3].operator_row, 2);
  EXPECT_EQ(e.trace[3].part, -1);  // it has but one
  EXPECT_EQ(e.trace[4].operator_row, -1);
}

TEST(EvaluationParts, LatencyAndEnergyAreExplained) {
  const Evaluation e = evaluation_of(account_case());
  EXPECT_THAT(e.latency_by,
              ElementsAre(Pair("compute", 140), Pair("stall", 38), Pair("traffic", 74), Pair("recomputation", 0),
                          Pair("paging", 0), Pair("room", 0), Pair("waiting", 8)));
  EXPECT_NEAR(sum(e.energy_by), e.energy_pj, 1e-9 * e.energy_pj);
  EXPECT_EQ(e.energy_by.size(), 5U);
  EXPECT_EQ(e.machine.peak_macs_per_cycle, 8);
}

// Rows of operators that the last part lacks come behind its own.
TEST(EvaluationParts, RepeatedEventsNameTheirOperators) {
  Evaluation part, last;
  part.operators = {{.name = "extra"}, {.name = "b"}};
  part.trace = {{.track = "t", .name = "extra", .operator_row = 0},
                {.track = "t", .name = "b", .operator_row = 1},
                {.track = "t", .name = "fetch"}};
  last.operators = {{.name = "a"}, {.name = "b"}};
  last.trace = {{.track = "t", .name = "b", .operator_row = 1}};
  const Evaluation whole = repeat(part, 2, last);
  ASSERT_EQ(whole.trace.size(), 5U);
  for (const TraceEvent& event : whole.trace) {
    if (event.operator_row >= 0) {
      EXPECT_EQ(whole.operators[static_cast<std::size_t>(event.operator_row)].name, event.name);
    } else {
      EXPECT_TRUE(event.name == "fetch" || event.kind == "repeated");
    }
  }
  EXPECT_EQ(whole.trace[0].operator_row, 2);
}

TEST(EvaluationParts, RepeatedStepsAddUp) {
  const AccountCase c = account_case();
  const Evaluation last = evaluation_of(c);
  // The same without the update: forward and backward.
  AccountCase shorter = account_case();
  shorter.schedule.cycles = 200;
  shorter.schedule.tiles.pop_back();
  shorter.schedule.transfers.resize(6);
  shorter.schedule.stays.resize(5);
  shorter.schedule.stays.push_back({0, 200, 999, BufferId(std::size_t{4}), {}, sram1});
  for (TensorStay& stay : shorter.schedule.home) stay.end = std::min(stay.end, 200.0);
  shorter.tiles.operators[2].count = 0;
  shorter.tiles.node.pop_back();
  shorter.tiles.first_read.pop_back();
  shorter.tiles.first_write.pop_back();
  const Evaluation part = evaluation_of(shorter);
  const Evaluation whole = repeat(part, 3, last);
  EXPECT_EQ(whole.latency_cycles, 3 * 200 + 260);
  EXPECT_EQ(whole.energy_pj, sum(whole.energy));
  EXPECT_NEAR(whole.energy_pj, 3 * part.energy_pj + last.energy_pj, 1e-6);
  EXPECT_EQ(whole.macs, 4 * 2500);
  EXPECT_EQ(whole.tiles, 3 * 3 + 4);
  EXPECT_EQ(whole.transfers, 3 * 6 + 8);
  double latency = 0, energy = 0, operators = 0;
  for (const PhaseResult& phase : whole.phases) latency += phase.latency_cycles, energy += phase.energy_pj;
  EXPECT_NEAR(latency, whole.latency_cycles, 1e-9);
  EXPECT_NEAR(energy, whole.energy_pj, 1e-6);
  for (const OperatorResult& row : whole.operators) operators += row.energy_pj;
  const auto leaked = std::ranges::find_if(whole.energy, [](const auto& p) { return p.first == "static"; })->second;
  EXPECT_NEAR(operators + leaked, whole.energy_pj, 1e-6);
  EXPECT_EQ(whole.operators[0].start, 20);
  EXPECT_EQ(whole.operators[0].end, 600 + 130);
  EXPECT_EQ(whole.operators[0].tiles, 8);
  for (const ResourceResult& row : whole.resources) {
    EXPECT_NEAR(row.busy_cycles + row.idle_cycles, 860, 1e-9) << row.name;
    EXPECT_NEAR(row.utilization, row.busy_cycles / 860, 1e-12);
  }
  EXPECT_EQ(whole.memories[2].live_peak_bytes, 999);
  EXPECT_EQ(whole.memories[2].peak_at, 0);
  EXPECT_EQ(whole.memories[1].live_peak_bytes, 220);
  EXPECT_EQ(whole.memories[0].read_bytes, 3 * part.memories[0].read_bytes + last.memories[0].read_bytes);
  for (const MemoryResult& row : whole.memories) {
    EXPECT_TRUE(std::ranges::is_sorted(row.curve_at)) << row.name;
    for (const auto& point : row.curve) EXPECT_EQ(point.size(), row.roles.size());
  }
  double at = 0;
  for (const CriticalStep& step : whole.critical_path) {
    EXPECT_EQ(step.start, at);
    at = step.end;
  }
  EXPECT_EQ(at, 860);
  EXPECT_NEAR(sum(whole.critical_by_kind), 860, 1e-9);
  EXPECT_NEAR(sum(whole.latency_by), 860, 1e-9);
  EXPECT_NEAR(sum(whole.energy_by), whole.energy_pj, 1e-6);
  ASSERT_EQ(whole.latency_by.size(), last.latency_by.size());
  for (std::size_t i = 0; i < last.latency_by.size(); ++i)
    EXPECT_EQ(whole.latency_by[i].first, last.latency_by[i].first);
  ASSERT_EQ(whole.trace.size(), part.trace.size() + last.trace.size() + 1);
  EXPECT_EQ(whole.trace.back().name, "micro-batches 2 to 3, as the first");
  EXPECT_EQ(whole.trace[part.trace.size()].flow_from(), static_cast<std::int64_t>(part.trace.size()) + 4);
  EXPECT_EQ(whole.trace[part.trace.size()].start, 600 + 20);
  EXPECT_EQ(repeat(part, 0, last).latency_cycles, 260);
}

}  // namespace
}  // namespace monet
