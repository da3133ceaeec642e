// What latency and energy of real schedules go to: in closed form, and for any step all of it.
#include "evaluate/account/causes.h"
#include "evaluate/evaluate_case.h"
#include "evaluate/run/result.h"

#include <monet/evaluate.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace monet {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::Pair;

double part(const Parts& parts, std::string_view name) {
  const auto found = std::ranges::find_if(parts, [&](const auto& entry) { return entry.first == name; });
  return found == parts.end() ? -1 : found->second;
}

Evaluation evaluation_of(const Graph& graph, const Hardware& hardware, const Evaluated& result) {
  Evaluation evaluation;
  fill(evaluation, {graph, hardware, result.assignment, result.tiles, result.schedule}, {}, {});
  return evaluation;
}

TEST(CausesOfSteps, OneOperatorOnOneCoreComputes) {
  const std::string machine =
      "memories:\n  " + memory("main", "sram", "1 MiB", 4096) + "\ncores:\n" + rate_core("core", "main: {use: main}");
  const Case c(chain(1, 64), machine);
  const Evaluation e = evaluation_of(c.graph(), c.hardware(), c.result());
  EXPECT_THAT(e.latency_by,
              ElementsAre(Pair("compute", 64), Pair("stall", 0), Pair("traffic", 0), Pair("recomputation", 0),
                          Pair("paging", 0), Pair("room", 0), Pair("waiting", 0)));
  EXPECT_EQ(part(e.energy_by, "compute"), 64);  // a picojoule an operation
  EXPECT_EQ(part(e.energy_by, "recomputation"), 0);
  EXPECT_EQ(part(e.energy_by, "paging"), 0);
}

TEST(CausesOfSteps, WhatComesAndGoesIsTraffic) {
  const std::string machine = "memories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\ncores:\n" +
                              rate_core("core", memory("sram", "sram", "1 MiB", 4096) + ", dram: {use: dram}") +
                              "links:\n  - {link: [dram, core], width: 16 bit/cycle}\n";
  const Case c(chain(3, 64), machine);
  const Evaluation e = evaluation_of(c.graph(), c.hardware(), c.result());
  EXPECT_EQ(part(e.latency_by, "compute"), 3 * 64);
  EXPECT_EQ(part(e.latency_by, "traffic"), 128 + 128);  // 64 elements of 32 bits over 16 bits a cycle, in and out
  EXPECT_EQ(sum_of(e.latency_by), e.latency_cycles);
}

// One bus for two cores: each fetch but the first waits for the one before it, whatever used its other channels last.
TEST(CausesOfSteps, AFetchWaitsForTheOneThatHadTheBus) {
  std::string machine = "memories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\ncores:\n";
  for (const char* const name : {"c0", "c1"})
    machine += rate_core(name, memory("sram", "sram", "1 MiB", 4096) + ", dram: {use: dram}");
  const Case c(branches({64, 64, 64, 64}), machine + "links:\n  - {bus: [dram, c0, c1], width: 16 bit/cycle}\n");
  std::size_t waited = 0;
  for (const ScheduledTransfer& transfer : c.schedule().transfers) {
    if (transfer.kind != TransferKind::fetch || transfer.start == 0) continue;
    ASSERT_EQ(transfer.wait, Wait::transfer);
    EXPECT_EQ(c.schedule().transfers[transfer.by].end, transfer.start);
    ++waited;
  }
  EXPECT_EQ(waited, 3U);
  const Evaluation e = evaluation_of(c.graph(), c.hardware(), c.result());
  // 64 elements of 32 bits take 128 cycles; four come, and the last goes back after 64 cycles of work.
  EXPECT_EQ(part(e.latency_by, "waiting"), 0);
  EXPECT_EQ(sum_of(e.latency_by), e.latency_cycles);
}

TEST(CausesOfSteps, PartsAreAllOfTheWhole) {
  std::size_t again = 0, paged = 0, all = 0;
  for (std::uint64_t seed = 1000; seed < 1080; ++seed) {
    const auto example = random_evaluation(seed);
    if (!example) continue;
    MappingCache cache;
    Evaluator evaluator(example->graph, example->hardware, cache, quick_options());
    const auto result = evaluate(evaluator, *example);
    if (!result) continue;
    const Evaluation e = evaluation_of(example->graph, example->hardware, *result);
    ASSERT_EQ(e.latency_by.size(), latency_causes);
    ASSERT_EQ(e.energy_by.size(), energy_causes);
    ASSERT_NEAR(sum_of(e.latency_by), e.latency_cycles, 1e-9 * e.latency_cycles) << seed;
    ASSERT_NEAR(sum_of(e.energy_by), e.energy_pj, 1e-9 * e.energy_pj) << seed;
    for (const auto& [name, value] : e.latency_by) ASSERT_GE(value, 0) << seed << " " << name;
    for (const auto& [name, value] : e.energy_by) ASSERT_GE(value, 0) << seed << " " << name;
    const bool repeats = std::ranges::any_of(example->graph.nodes(), &Node::recomputed);
    if (!repeats) {
      ASSERT_EQ(part(e.energy_by, "recomputation") + part(e.latency_by, "recomputation"), 0) << seed;
    }
    const bool pages = std::ranges::any_of(result->schedule.transfers, [](const ScheduledTransfer& transfer) {
      return transfer.kind == TransferKind::page_in || transfer.kind == TransferKind::page_out;
    });
    if (!pages) {
      ASSERT_EQ(part(e.energy_by, "paging") + part(e.latency_by, "paging"), 0) << seed;
    }
    ++all, again += repeats ? 1 : 0, paged += pages ? 1 : 0;
  }
  EXPECT_GT(all, 40U);
  EXPECT_GT(again, 3U);
  EXPECT_GT(paged, 3U);
}

Evaluation evaluated(const StepRequest& options) {
  const auto evaluation = evaluate_network("mlp-robotics", options);
  EXPECT_TRUE(evaluation.has_value()) << (evaluation ? "" : evaluation.error().text());
  return evaluation ? *evaluation : Evaluation{};
}

void expect_whole(const Evaluation& e) {
  EXPECT_NEAR(sum_of(e.latency_by), e.latency_cycles, 1e-9 * e.latency_cycles);
  EXPECT_NEAR(sum_of(e.energy_by), e.energy_pj, 1e-9 * e.energy_pj);
}

TEST(CausesOfSteps, APlanThatRecomputesShowsIt) {
  StepRequest options;
  options.machine = "edge_tpu";
  options.compare = false;
  const Evaluation kept = evaluated(options);
  options.recompute = {"*"};
  const Evaluation again = evaluated(options);
  expect_whole(kept), expect_whole(again);
  EXPECT_EQ(part(kept.energy_by, "recomputation"), 0);
  double owned = 0;
  for (const OperatorResult& row : again.operators) owned += row.recomputed ? row.energy_pj : 0;
  EXPECT_GT(owned, 0);
  EXPECT_NEAR(part(again.energy_by, "recomputation"), owned, 1e-9 * owned);
  // What is not run again computes as before, less what the forward part made for the backward part alone.
  EXPECT_LE(part(again.energy_by, "compute"), part(kept.energy_by, "compute") * (1 + 1e-9));
}

TEST(CausesOfSteps, APlanThatPagesShowsIt) {
  StepRequest options;
  options.machine = "raspberry_pi_4";
  options.compare = false;
  const Evaluation kept = evaluated(options);
  options.page = {{"*", "sd_card"}};
  const Evaluation paged = evaluated(options);
  expect_whole(kept), expect_whole(paged);
  EXPECT_EQ(part(kept.latency_by, "paging") + part(kept.energy_by, "paging"), 0);
  EXPECT_GT(part(paged.latency_by, "paging"), 0);
  EXPECT_GT(part(paged.energy_by, "paging"), 0);
}

TEST(CausesOfSteps, MicroBatchesAddUp) {
  StepRequest options;
  options.machine = "edge_tpu";
  options.compare = false;
  options.train.accumulate = 3;
  const Evaluation e = evaluated(options);
  EXPECT_EQ(e.micro_batches, 3);
  expect_whole(e);
}

}  // namespace
}  // namespace monet
