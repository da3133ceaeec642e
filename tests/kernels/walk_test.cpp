// What do launches find in the cache, and what does the allocator hold while they run?
#include "kernels/lower/walk.h"

#include "kernels/hand_made_laws.h"
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

LoweredStep products_and_copies() {
  LoweredStep step;
  Launch product;
  product.kernel = {.kind = KernelKind::product, .m = 4096, .n = 4096, .k = 4096};
  Launch copy;
  copy.kernel = {.kind = KernelKind::elementwise, .op = KernelOp::copy, .elements = 100'000'000};
  step.launches = {product, copy, product};
  return step;
}

double watts_of(const StepCosts& costs) { return 1e3 * costs.total_mj / costs.total_us; }

// Above the limit the clock falls to where the limit is drawn: products take longer, copies through memory do not.
TEST(PowerLimit, LowersTheClock) {
  KernelLaws laws = test::hand_made_laws();
  laws.energy.clock_exponent = 1.5;
  laws.energy.limit_w = 0;
  const LoweredStep step = products_and_copies();
  const StepCosts free = costs_of(step, laws);
  EXPECT_EQ(free.clock, 1);
  laws.energy.limit_w = 0.8 * watts_of(free);
  const StepCosts slowed = costs_of(step, laws);
  EXPECT_LT(slowed.clock, 1);
  EXPECT_GT(slowed.clock, 0.7);
  EXPECT_NEAR(watts_of(slowed), laws.energy.limit_w, 1e-6 * laws.energy.limit_w);
  EXPECT_LT(slowed.total_mj, free.total_mj);
  const double product_bytes = 3 * 4.0 * 4096 * 4096;  // from memory
  const double of_memory = product_bytes / laws.memory.memory_rate;
  EXPECT_NEAR(slowed.us[0], of_memory + (free.us[0] - of_memory) / slowed.clock, 1e-6);
  const double copied = 8e8 / laws.memory.memory_rate;
  EXPECT_NEAR(slowed.us[1], copied + (free.us[1] - copied) / slowed.clock, 1e-6);
  EXPECT_LT(slowed.us[1] / free.us[1], slowed.us[0] / free.us[0]);
  EXPECT_NEAR(slowed.phase_us[0], slowed.total_us, 1e-9);
  EXPECT_NEAR(slowed.us[0] + slowed.us[1] + slowed.us[2], slowed.total_us, 1e-9);
}

TEST(PowerLimit, SlowsNothingWhereItIsNotKnownWhatThatSaves) {
  KernelLaws laws = test::hand_made_laws();
  laws.energy.limit_w = 0;
  const LoweredStep step = products_and_copies();
  const StepCosts free = costs_of(step, laws);
  laws.energy.limit_w = 0.8 * watts_of(free);
  const StepCosts capped = costs_of(step, laws);
  EXPECT_EQ(capped.us, free.us);
  EXPECT_EQ(capped.clock, 1);
  EXPECT_NEAR(watts_of(capped), laws.energy.limit_w, 1e-9 * laws.energy.limit_w);
  // Nor where what flows without any work is above it: the energy is capped all the same.
  laws.energy.clock_exponent = 1.5;
  laws.energy.limit_w = 50;
  const StepCosts low = costs_of(step, laws);
  EXPECT_NEAR(watts_of(low), 50, 1e-6);
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
