// What do launches find in the cache, and what does the allocator hold while they run?
#include "kernels/lower/walk.h"

#include "kernels/lower/memory.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

constexpr std::int64_t megabyte = 1'000'000;

// Buffers of so many bytes; the first `permanent` of them are there before the step.
LoweredStep step_with(const std::vector<std::int64_t>& bytes, std::size_t permanent) {
  LoweredStep step;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    step.buffers.push_back({.bytes = bytes[i], .permanent = i < permanent});
  return step;
}

void launch(LoweredStep& step, Phase phase, const std::vector<std::size_t>& reads,
            const std::vector<std::size_t>& writes) {
  Launch made;
  made.phase = phase;
  for (std::size_t i : reads) made.reads.push_back({AllocationId(i), step.buffers[i].bytes});
  for (std::size_t i : writes) made.writes.push_back({AllocationId(i), step.buffers[i].bytes});
  step.launches.push_back(std::move(made));
}

TEST(ColdShares, OperandsAreColdWhenMuchWasTouchedSince) {
  LoweredStep step = step_with({10 * megabyte, 30 * megabyte, 10 * megabyte, 10 * megabyte}, 1);
  launch(step, Phase::forward, {0}, {1});     // 0 is from the step before
  launch(step, Phase::forward, {1}, {2});     // 1 was just written
  launch(step, Phase::forward, {0, 2}, {3});  // 0: 40 MB ago, 2: just now
  set_cold_shares(step, 38e6);
  EXPECT_DOUBLE_EQ(step.launches[0].kernel.cold_share, 0);  // 30 MB were touched since
  EXPECT_DOUBLE_EQ(step.launches[1].kernel.cold_share, 0);
  EXPECT_DOUBLE_EQ(step.launches[2].kernel.cold_share, 0.5);
}

TEST(ColdShares, ASmallStepFindsItsWeightsInTheCache) {
  LoweredStep step = step_with({megabyte, megabyte, megabyte}, 1);
  launch(step, Phase::forward, {0}, {1});
  launch(step, Phase::forward, {1}, {2});
  set_cold_shares(step, 38e6);
  EXPECT_DOUBLE_EQ(step.launches[0].kernel.cold_share, 0);
  set_cold_shares(step, 1e5);
  EXPECT_DOUBLE_EQ(step.launches[0].kernel.cold_share, 1);
}

TEST(AllocatorPeak, BuffersLiveFromTheirFirstLaunchToTheirLast) {
  LoweredStep step = step_with({1024, 2048, 4096, 512, 100}, 1);
  step.buffers[3].until_end = true;
  launch(step, Phase::forward, {0}, {1});
  launch(step, Phase::forward, {1}, {2});
  launch(step, Phase::backward, {2}, {3});
  launch(step, Phase::optimizer, {0}, {4});
  const AllocatorPeak peak = allocator_peak(step, [](const Kernel&) { return 0; });
  EXPECT_EQ(peak.static_bytes, 1024);
  EXPECT_EQ(peak.after_forward_bytes, 1024 + 4096);
  EXPECT_EQ(peak.peak_bytes[0], 1024 + 2048 + 4096);
  EXPECT_EQ(peak.peak_bytes[1], 1024 + 4096 + 512);
  EXPECT_EQ(peak.peak_bytes[2], 1024 + 512 + 512);  // 100 bytes take a block of 512
  EXPECT_EQ(peak.peak(), 1024 + 2048 + 4096);
  EXPECT_EQ(peak.largest, 1U);
}

TEST(AllocatorPeak, WorkspaceIsHeldWhileAKernelRuns) {
  LoweredStep step = step_with({1024, 1024}, 1);
  launch(step, Phase::forward, {0}, {1});
  EXPECT_EQ(allocator_peak(step, [](const Kernel&) { return 700; }).peak(), 2048 + 1024);
}

}  // namespace
}  // namespace monet
