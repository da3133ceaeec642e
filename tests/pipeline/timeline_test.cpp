// Are times those of a slow simulation, and is no order of a small pipeline better than its bound?
#include "pipeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "support/expect_error.h"

namespace monet {
namespace {

using enum PipelinePart;

using Key = std::tuple<std::uint32_t, std::uint32_t, PipelinePart>;

// Ends by going round until nothing changes.
std::map<Key, double> slow_ends(const PipelineOrder& order, const std::vector<StageCost>& costs) {
  std::map<Key, double> ends;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& tasks : order.tasks) {
      double free = 0;
      for (const auto& [stage, micro, part] : tasks) {
        double begin = free;
        const auto after = [&](std::uint32_t s, PipelinePart p, double send) {
          begin = std::max(begin, ends[{s, micro, p}] + send);
        };
        if (part == forward && stage > 0) after(stage - 1, forward, costs[stage - 1].send);
        if (part == backward) after(stage, forward, 0);
        if (part == backward && stage + 1 < costs.size()) after(stage + 1, backward, costs[stage + 1].send_back);
        if (part == weights) after(stage, backward, 0);
        const StageCost& cost = costs[stage];
        const double takes = part == forward   ? cost.forward
                             : part == weights ? cost.weights
                                               : cost.backward + (order.splits_backward ? 0 : cost.weights);
        double& end = ends[{stage, micro, part}];
        changed |= end != begin + takes;
        free = end = begin + takes;
      }
    }
  }
  return ends;
}

std::vector<StageCost> random_costs(std::size_t stages, std::mt19937& random) {
  const auto number = [&] { return static_cast<double>(1 + random() % 9); };
  std::vector<StageCost> costs(stages);
  for (StageCost& cost : costs)
    cost = {.forward = number(),
            .backward = number(),
            .weights = number(),
            .send = number() / 4,
            .send_back = number() / 4};
  return costs;
}

TEST(PipelineTimes, AreThoseOfASlowSimulation) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto schedule = static_cast<PipelineSchedule>(random() % 6);
    const std::uint32_t chips = 1 + random() % 5;
    const std::uint32_t chunks = schedule == PipelineSchedule::interleaved ? 1 + random() % 3 : 1;
    const auto order = pipeline_order(schedule, {chips, chunks, chips * static_cast<std::uint32_t>(2 + random() % 3)});
    ASSERT_TRUE(order);
    const std::vector<StageCost> costs = random_costs(order->chip_of.size(), random);
    const auto times = pipeline_times(*order, costs);
    ASSERT_TRUE(times);
    const auto ends = slow_ends(*order, costs);
    const double end = std::ranges::max_element(ends, {}, [](const auto& e) { return e.second; })->second;
    EXPECT_NEAR(times->end, end, 1e-9);
    EXPECT_GE(times->end, pipeline_bound(*order, costs) - 1e-9);
    for (const PipelineChip& chip : times->chips) EXPECT_LE(chip.busy, chip.end - chip.begin + 1e-9);
  }
}

// All orders in which each chip takes micro-batches as they come: forward and backward in any turn.
void each_order(std::uint32_t chips, std::uint32_t micro_batches,
                const std::function<void(const PipelineOrder&)>& visit) {
  std::vector<std::vector<PipelinePart>> turns;
  std::vector<PipelinePart> turn;
  const std::function<void(std::uint32_t, std::uint32_t)> extend = [&](std::uint32_t f, std::uint32_t b) {
    if (b == micro_batches) return turns.push_back(turn);
    for (const PipelinePart part : {forward, backward}) {
      const bool may = part == forward ? f < micro_batches : b < f;
      if (!may) continue;
      turn.push_back(part);
      extend(f + (part == forward), b + (part == backward));
      turn.pop_back();
    }
  };
  extend(0, 0);
  PipelineOrder order{.micro_batches = micro_batches};
  for (std::uint32_t chip = 0; chip < chips; ++chip) order.chip_of.push_back(chip);
  order.tasks.resize(chips);
  const std::function<void(std::uint32_t)> choose = [&](std::uint32_t chip) {
    if (chip == chips) return visit(order);
    for (const auto& parts : turns) {
      order.tasks[chip].clear();
      std::uint32_t f = 0, b = 0;
      for (const PipelinePart part : parts) order.tasks[chip].push_back({chip, part == forward ? f++ : b++, part});
      choose(chip + 1);
    }
  };
  choose(0);
}

TEST(PipelineTimes, NoOrderIsBetterThan1F1BOnEqualStages) {
  for (std::uint32_t chips : {1U, 2U, 3U}) {
    for (std::uint32_t micro : {1U, 2U, 3U, 4U}) {
      const std::vector<StageCost> costs(chips, {.forward = 1, .backward = 1, .weights = 1});
      double best = 1e9;
      each_order(chips, micro, [&](const PipelineOrder& order) {
        if (const auto times = pipeline_times(order, costs)) best = std::min(best, times->end);
      });
      const auto order = pipeline_order(PipelineSchedule::one_f_one_b, {chips, 1, micro});
      EXPECT_NEAR(pipeline_times(*order, costs)->end, best, 1e-9) << chips << ' ' << micro;
      EXPECT_NEAR(pipeline_bound(*order, costs), best, 1e-9) << chips << ' ' << micro;
    }
  }
}

TEST(PipelineTimes, NoOrderIsBelowTheBound) {
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    const std::uint32_t chips = 1 + random() % 3, micro = 1 + random() % 3;
    const std::vector<StageCost> costs = random_costs(chips, random);
    double best = 1e9;
    each_order(chips, micro, [&](const PipelineOrder& order) {
      if (const auto times = pipeline_times(order, costs)) best = std::min(best, times->end);
    });
    const auto order = pipeline_order(PipelineSchedule::gpipe, {chips, 1, micro});
    EXPECT_GE(best, pipeline_bound(*order, costs) - 1e-9);
  }
}

TEST(PipelineTimes, MemoryIsWhatIsInFlight) {
  // Two stages: the first keeps two micro-batches of 10 bytes, of which 4 stay for the gradients of weights.
  const StageCost cost{
      .forward = 1, .backward = 1, .weights = 1, .kept_bytes = 10, .kept_for_weights_bytes = 4, .working_bytes = 3};
  const std::vector<StageCost> costs(2, cost);
  const auto plain = pipeline_times(*pipeline_order(PipelineSchedule::one_f_one_b, {2, 1, 4}), costs);
  EXPECT_EQ(plain->chips[0].peak_bytes, 2 * 10 + 3);
  EXPECT_EQ(plain->chips[1].peak_bytes, 10 + 3);
  PipelineOrder apart{.micro_batches = 2, .chip_of = {0}, .splits_backward = true};
  apart.tasks = {
      {{0, 0, forward}, {0, 0, backward}, {0, 1, forward}, {0, 1, backward}, {0, 0, weights}, {0, 1, weights}}};
  EXPECT_EQ(pipeline_times(apart, {&cost, 1})->chips[0].peak_bytes, 4 + 10 + 3);
}

TEST(PipelineTimes, AnOrderThatWaitsForItself) {
  PipelineOrder order = *pipeline_order(PipelineSchedule::gpipe, {2, 1, 1});
  std::ranges::reverse(order.tasks[1]);
  const auto times = pipeline_times(order, std::vector<StageCost>(2));
  ASSERT_FALSE(times);
  test::expect_error(times.error(), {"chip 0 waits for ever before backward of micro-batch 0 in stage 0"}, "pipeline");
}

}  // namespace
}  // namespace monet
