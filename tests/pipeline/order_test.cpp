// Do schedules keep chips busy as published, hold what they are said to hold, and is no order missing a task?
#include "pipeline/order.h"
#include "pipeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.h"

namespace monet {
namespace {

using enum PipelineSchedule;
using test::expect_error;

// Forward, gradients of inputs, gradients of weights take one second each; a stage is a chunk-th of a chip's work.
PipelineTimes on_equal_stages(PipelineSchedule schedule, const PipelineShape& shape) {
  const auto order = pipeline_order(schedule, shape);
  EXPECT_TRUE(order) << order.error().text();
  EXPECT_TRUE(check_order(*order)) << check_order(*order).error().text();
  const double part = static_cast<double>(shape.chips) / static_cast<double>(order->chip_of.size());
  const StageCost stage{.forward = part, .backward = part, .weights = part, .kept_bytes = 1};
  const std::vector<StageCost> costs(order->chip_of.size(), stage);
  const auto times = pipeline_times(*order, costs);
  EXPECT_TRUE(times) << times.error().text();
  EXPECT_GE(times->end, pipeline_bound(*order, costs) - 1e-9);
  for (const PipelineChip& chip : times->chips) EXPECT_NEAR(chip.busy, 3.0 * shape.micro_batches, 1e-9);
  return *times;
}

TEST(PipelineOrder, BubblesOnEqualStagesAreThePublishedOnes) {
  for (std::uint32_t p : {1U, 2U, 3U, 4U, 8U}) {
    for (std::uint32_t m : {p, 2 * p, 3 * p, 5 * p}) {
      const double work = 3.0 * m;
      EXPECT_NEAR(on_equal_stages(gpipe, {p, 1, m}).end, work + 3 * (p - 1), 1e-9) << p << ' ' << m;
      EXPECT_NEAR(on_equal_stages(one_f_one_b, {p, 1, m}).end, work + 3 * (p - 1), 1e-9) << p << ' ' << m;
      for (std::uint32_t v : {2U, 3U, 4U})
        EXPECT_NEAR(on_equal_stages(interleaved, {p, v, m}).end, work + 3.0 * (p - 1) / v, 1e-9) << p << ' ' << m;
      EXPECT_NEAR(on_equal_stages(zb_h1, {p, 1, m}).end, work + (p - 1), 1e-9) << p << ' ' << m;
      if (m >= 2 * p) {
        EXPECT_NEAR(on_equal_stages(zb_h2, {p, 1, m}).span, work, 1e-9) << p << ' ' << m;
        EXPECT_NEAR(on_equal_stages(zb_v, {p, 1, m}).span, work, 1e-9) << p << ' ' << m;
      }
    }
  }
}

TEST(PipelineOrder, ChipsHoldWhatIsPublished) {
  for (std::uint32_t p : {2U, 4U, 8U}) {
    for (std::uint32_t m : {p, 3 * p}) {
      const auto in_flight = [&](PipelineSchedule schedule, std::uint32_t chunks) {
        std::vector<std::uint32_t> most;
        for (const PipelineChip& chip : on_equal_stages(schedule, {p, chunks, m}).chips)
          most.push_back(chip.most_in_flight);
        return most;
      };
      for (std::uint32_t i = 0; i < p; ++i) {
        EXPECT_EQ(in_flight(gpipe, 1)[i], m);
        EXPECT_EQ(in_flight(one_f_one_b, 1)[i], std::min(m, p - i));
        EXPECT_EQ(in_flight(zb_h1, 1)[i], std::min(m, p - i));
        EXPECT_LE(in_flight(zb_h2, 1)[i], std::min(m, 2 * (p - i) - 1));
        if (m >= 2 * p) {
          EXPECT_LE(in_flight(zb_v, 1)[i], 2 * p) << i;  // of half the size
        }
      }
      // p (1 + (p - 1) / (p v)) of a chip's layers, in chunks.
      for (std::uint32_t v : {2U, 4U})
        EXPECT_EQ(in_flight(interleaved, v)[0], std::min(m * v, p * v + p - 1)) << p << ' ' << v;
    }
  }
}

TEST(PipelineOrder, NamesAreRead) {
  for (PipelineSchedule schedule : {gpipe, one_f_one_b, interleaved, zb_h1, zb_h2, zb_v})
    EXPECT_EQ(*pipeline_schedule(name_of(schedule)), schedule);
  const auto unknown = pipeline_schedule("2f2b");
  ASSERT_FALSE(unknown);
  expect_error(unknown.error(), {"there is no schedule '2f2b'"}, "pipeline");
}

TEST(PipelineOrder, ShapesThatCannotBe) {
  const auto refused = [](PipelineSchedule schedule, const PipelineShape& shape, const char* words) {
    const auto order = pipeline_order(schedule, shape);
    ASSERT_FALSE(order) << words;
    expect_error(order.error(), {words}, "pipeline");
  };
  refused(one_f_one_b, {0, 1, 1}, "no chips");
  refused(one_f_one_b, {4, 2, 4}, "a chip holds 1, not 2 chunks");
  refused(zb_v, {4, 3, 8}, "a chip holds 2, not 3 chunks");
  refused(interleaved, {4, 2, 6}, "6 micro-batches are no multiple of 4 chips");
  refused(zb_v, {4, 1, 7}, "fewer than twice the 4 chips");
  refused(gpipe, {4096, 1, 1 << 30}, "too many tasks");
}

TEST(PipelineOrder, ListsThatAreWrong) {
  using enum PipelinePart;
  const PipelineOrder good = *pipeline_order(one_f_one_b, {2, 1, 2});
  const auto refused = [&](auto change, const char* words) {
    PipelineOrder order = good;
    change(order);
    const Status status = check_order(order);
    ASSERT_FALSE(status) << words;
    expect_error(status.error(), {words}, "pipeline");
  };
  refused([](PipelineOrder& o) { o.tasks[0].pop_back(); }, "backward of micro-batch 1 in stage 0 is not listed");
  refused([](PipelineOrder& o) { o.tasks[1].push_back(o.tasks[1].front()); }, "is listed twice");
  refused([](PipelineOrder& o) { std::swap(o.tasks[0], o.tasks[1]); }, "is listed for chip 0, but lies on chip 1");
  refused([](PipelineOrder& o) { o.tasks[0].push_back({0, 7, forward}); }, "there is no forward of micro-batch 7");
  refused([](PipelineOrder& o) { o.tasks[0].push_back({0, 0, weights}); }, "there is no gradients of weights");
}

}  // namespace
}  // namespace monet
