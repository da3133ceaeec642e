// Do laws give what their formulas say, for coefficients with round numbers?
#include "kernels/laws.h"

#include "kernels/hand_made_laws.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet {
namespace {

using test::hand_made_laws;
using test::set_law;

TEST(KernelLaws, MemoryIsSlowerBeyondTheCache) {
  const MemoryLaw memory = hand_made_laws().memory;
  EXPECT_DOUBLE_EQ(memory_us(memory, 8e6), 1);
  EXPECT_DOUBLE_EQ(memory_us(memory, 40e6), 10);
  EXPECT_DOUBLE_EQ(memory_us(memory, 15e6), 15e6 / 6e6);  // halfway: the mean of both rates
  EXPECT_DOUBLE_EQ(cold_memory_us(memory, 8e6), 2);
}

TEST(KernelLaws, AProductIsItsBestTilesInWaves) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "product.forward.fp32", {100e6, 1e-9, 2, 1e-9, 1e9, 1, 1e-9});
  Kernel k{.kind = KernelKind::product, .m = 2560, .n = 2560, .k = 1000};
  // 100 tiles of 256 x 256 are one full wave: no time but that of the flops, and the start.
  EXPECT_NEAR(microseconds(laws, k), 2 + 2.0 * 2560 * 2560 * 1000 / 100e6, 1e-3);
  // One more row of tiles of 16 x 256 cannot do better than the next wave of some tile.
  k.m = 2561;
  EXPECT_GT(microseconds(laws, k), 2 + 2.0 * 2560 * 2560 * 1000 / 100e6);
  // A single sum keeps one multiprocessor, in the smallest tile.
  k.m = k.n = 16;
  EXPECT_NEAR(microseconds(laws, k), 2 + 2.0 * 16 * 16 * 1000 / 1e6, 1e-3);
}

TEST(KernelLaws, ASplitSumUsesMoreMultiprocessors) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "product.forward.fp32", {100e6, 1e-9, 0.1, 1e-9, 1, 1e-9, 1e-9});
  const Kernel k{.kind = KernelKind::product, .m = 16, .n = 16, .k = 64000};
  // 64 parts of 1,000, a multiprocessor each, and 1 us to add them.
  EXPECT_NEAR(microseconds(laws, k), 0.1 + 1 + 2.0 * 16 * 16 * 1000 / 1e6 + 0, 0.3);
}

// The 100 multiprocessors of the machine by hand hold two channels each of those that are read once.
TEST(KernelLaws, ABatchNormIsABlockAChannel) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "batch_norm.forward.fp32", {3, 50, 100, 1e9, 1e-9});
  Kernel k{.kind = KernelKind::batch_norm, .batch = 10, .c = 50, .h = 20, .w = 20};
  EXPECT_NEAR(microseconds(laws, k), 3 + 4000 / 100.0, 1e-6);
  k.c = 200;
  EXPECT_NEAR(microseconds(laws, k), 3 + 4000 / 100.0, 1e-6);
  k.c = 201;
  EXPECT_NEAR(microseconds(laws, k), 3 + 2 * 4000 / 100.0, 1e-6);
  k.c = 50;
  k.cold_share = 1;  // streams at the rate of one block from memory
  EXPECT_NEAR(microseconds(laws, k), 3 + 4000 / 50.0, 1e-6);
}

// More than registers hold is read twice: a block's own time and that of three passes through memory, whichever is
// more.
TEST(KernelLaws, ALargeBatchNormIsReadTwice) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "batch_norm.forward.fp32", {3, 1e9, 1e9, 1e9, 1e-9});
  const Kernel k{.kind = KernelKind::batch_norm, .batch = 100, .c = 10, .h = 100, .w = 100};
  EXPECT_NEAR(microseconds(laws, k), 3 + 3 * 4 * 1e7 / 4e6, 0.1);
}

TEST(KernelLaws, SumsGoDownRowsAndBlocksShareMany) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "elementwise.sum_rows.fp32", {3, 0.001, 1});
  Kernel k{.kind = KernelKind::elementwise, .op = KernelOp::sum_rows};
  k.columns = 100;
  k.elements = 100 * 1000;
  EXPECT_NEAR(microseconds(laws, k), 3 + 1 + 4e5 / 8e6, 1e-6);
  k.elements = 100 * 2000;  // two launches
  EXPECT_NEAR(microseconds(laws, k), 2 * 3 + 2 + 8e5 / 8e6, 1e-6);
}

// PyTorch shares rows above 65536 between blocks.
TEST(KernelLaws, ManyRowsOfALayerNormShareTheGradientOfItsParameters) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "layer_norm.backward.fp32", {4, 0.001, 0.01, 1});
  Kernel k{.kind = KernelKind::layer_norm, .part = KernelPart::backward, .rows = 65536, .columns = 10};
  EXPECT_NEAR(microseconds(laws, k), 4 + 65.536 + 655.36 + 3 * 4 * 655360 / 8e6, 1e-6);
  k.rows = 65537;
  EXPECT_NEAR(microseconds(laws, k), 4 + 65.537 + 3 * 4 * 655370 / 8e6, 1e-6);
}

// A block for each of 10 x 9 weights, 100 multiprocessors, 8 images of two steps of 32 pixels.
TEST(KernelLaws, WeightsOfADepthwiseConvolutionHaveABlockEach) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "convolution.weight_gradient.fp32.depthwise", {3, 0.5, 0.25});
  const Kernel k{.kind = KernelKind::convolution,
                 .part = KernelPart::weight_gradient,
                 .batch = 8,
                 .c = 10,
                 .o = 10,
                 .h = 7,
                 .w = 7,
                 .oh = 7,
                 .ow = 7,
                 .kernel_h = 3,
                 .kernel_w = 3,
                 .groups = 10};
  EXPECT_NEAR(microseconds(laws, k), 3 + 0.9 * 8 * (0.5 + 2 * 0.25), 1e-6);
}

TEST(KernelLaws, PartsOfAConcatenationStartInPairs) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "elementwise.cat_channels.fp32", {2, 1e9, 1});
  Kernel k{.kind = KernelKind::elementwise, .op = KernelOp::cat_channels, .elements = 1000};
  const double two = microseconds(laws, k);
  k.parts = 2;
  EXPECT_DOUBLE_EQ(microseconds(laws, k), two);
  k.parts = 10;
  EXPECT_NEAR(microseconds(laws, k) - two, 4 * 2, 1e-9);
}

// A group of 4 channels takes the time of one of 32, in fp32.
TEST(KernelLaws, GroupsAreWholeTiles) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "convolution.forward.fp32.windows", {10e6, 1e-9, 1e-9, 1e-9, 1, 1, 1e-9, 1e-9, 1e12, 1e12});
  Kernel k{.kind = KernelKind::convolution,
           .batch = 64,
           .c = 128,
           .o = 128,
           .h = 16,
           .w = 16,
           .oh = 16,
           .ow = 16,
           .kernel_h = 3,
           .kernel_w = 3,
           .groups = 32};
  const double each_four = microseconds(laws, k);
  k.o = 32 * 32;
  EXPECT_NEAR(microseconds(laws, k) / each_four, 1, 0.05);
}

TEST(KernelLaws, OptimizersLaunchAsOftenAsTheirArgumentsAsk) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "optimizer.adam.fp32", {5, 1e-9, 28e3, 1e-9});
  Kernel k{.kind = KernelKind::optimizer, .op = KernelOp::adam};
  k.tensors.assign(36, 1000);
  EXPECT_NEAR(microseconds(laws, k), 5 + 36000 * 28 / 28e3, 1e-4);
  k.tensors.assign(37, 1000);
  EXPECT_NEAR(microseconds(laws, k), 10 + 37000 * 28 / 28e3, 1e-4);
  k.tensors = {640 * 65536};  // two launches of 320 blocks
  EXPECT_NEAR(microseconds(laws, k), 10 + 640.0 * 65536 * 28 / 28e3, 1e-2);
}

TEST(KernelLaws, ACausalMaskLeavesOutBlocksAboveTheDiagonal) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "attention.forward.bf16", {10, 100e6});
  Kernel k{.kind = KernelKind::attention, .precision = KernelPrecision::bf16, .batch = 2, .s = 1024, .keys = 1024};
  k.d = 64;
  k.heads = 8;
  const double all = 4.0 * 16 * 64 * 1024 * 1024 / 100e6;
  EXPECT_NEAR(microseconds(laws, k), 10 + all, 1e-6);
  k.causal = true;
  EXPECT_NEAR(microseconds(laws, k), 10 + all * 9 / 16, 1e-6);
}

TEST(KernelLaws, ColdOperandsMixBothLaws) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "elementwise.add.fp32", {1, 1e9, 1});
  set_law(laws, "elementwise.add.fp32.cold", {2, 1e9, 1});
  Kernel k{.kind = KernelKind::elementwise, .op = KernelOp::add, .elements = 100000};
  EXPECT_NEAR(microseconds(laws, k), 1 + 1.2e6 / 8e6, 1e-3);
  k.cold_share = 1;
  EXPECT_NEAR(microseconds(laws, k), 2 + 1.2e6 / 4e6, 1e-3);
  k.cold_share = 0.5;
  EXPECT_NEAR(microseconds(laws, k), 1.5 + (0.15 + 0.3) / 2, 1e-3);
}

// Nothing else runs while a product in one block of 100 waits for memory: it takes twice as long.
TEST(KernelLaws, FewBlocksWaitForColdOperands) {
  KernelLaws laws = hand_made_laws();
  laws.cold_slowdown = {0.2, 0.2, 0.2};
  laws.cold_waiting = {1, 1, 1};
  set_law(laws, "product.forward.fp32", {1e12, 1e-9, 100, 1e-9, 1e9, 1, 1e-9});  // 100 us, whatever its size
  for (const std::int64_t rows : {64, 6400}) {
    Kernel k{.kind = KernelKind::product, .m = rows, .n = 64, .k = 1};
    const double warm = microseconds(laws, k);
    k.cold_share = 1;
    const double busy = rows == 64 ? 0.01 : 1;
    EXPECT_NEAR(microseconds(laws, k) / warm, 1 + 0.2 + (1 - busy) * (1 - 0.2), 0.01) << rows;
  }
}

TEST(KernelLaws, WhatNobodyMeasuredHasALawOfItsRelatives) {
  KernelLaws laws = hand_made_laws();
  set_law(laws, "elementwise.add.bf16", {7, 1e9, 1});
  const Kernel k{
      .kind = KernelKind::elementwise, .precision = KernelPrecision::bf16, .op = KernelOp::silu, .elements = 1};
  EXPECT_NEAR(microseconds(laws, k), 7, 0.01);
  // And of nothing at all: from the data sheet.
  for (std::size_t kind = 0; kind < kernel_kinds; ++kind) {
    const Kernel any{.kind = static_cast<KernelKind>(kind),
                     .m = 8,
                     .n = 8,
                     .k = 8,
                     .c = 8,
                     .o = 8,
                     .h = 8,
                     .w = 8,
                     .oh = 8,
                     .ow = 8,
                     .rows = 8,
                     .columns = 8,
                     .elements = 8,
                     .s = 8,
                     .keys = 8,
                     .d = 8,
                     .heads = 8,
                     .tensors = {8}};
    EXPECT_GT(microseconds(laws, any), 0) << kind;
    EXPECT_LT(microseconds(laws, any), 1000) << kind;
  }
}

TEST(KernelLaws, EnergyIsPowerTimesTimeAndWhatIsDone) {
  const KernelLaws laws = hand_made_laws();
  // 100 tiles of 64 x 64: all multiprocessors. Operands fit the cache.
  const Kernel product{.kind = KernelKind::product, .m = 640, .n = 640, .k = 100};
  const double flops = 2.0 * 640 * 640 * 100, bytes = 4.0 * (640 * 640 + 2 * 640 * 100);
  EXPECT_NEAR(millijoules(laws, product, 10), 1e-3 * (150 * 10 + (10 * flops + 20 * bytes) * 1e-6), 1e-9);
  // Beyond the cache each byte costs that of memory too.
  const Kernel copy{.kind = KernelKind::elementwise, .op = KernelOp::copy, .elements = 100'000'000};
  EXPECT_NEAR(millijoules(laws, copy, 200), 1e-3 * (150 * 200 + 100 * 8e8 * 1e-6), 1e-6);
  // More flops than the ceiling allows were not done.
  Kernel winograd = product;
  winograd.flops = 1e12;
  EXPECT_NEAR(millijoules(laws, winograd, 1), 1e-3 * (150 + (10 * 100e6 + 20 * bytes) * 1e-6), 1e-9);
}

// At half the clock, with energy in its square: busy cores draw an eighth, operations take a quarter, bytes what they
// did.
TEST(KernelLaws, EnergyFallsWithTheClock) {
  KernelLaws laws = hand_made_laws();
  laws.energy.clock_exponent = 2;
  const Kernel product{.kind = KernelKind::product, .m = 640, .n = 640, .k = 100};
  const double flops = 2.0 * 640 * 640 * 100, bytes = 4.0 * (640 * 640 + 2 * 640 * 100);
  EXPECT_NEAR(millijoules(laws, product, 20, 0.5),
              1e-3 * ((100 + 50 / 8.0) * 20 + (10 * flops / 4 + 20 * bytes) * 1e-6), 1e-9);
}

// 800 MB take 200 us from memory; what lies in the cache has no part in that.
TEST(KernelLaws, WhatMemoryTakesDoesNotGoWithTheClock) {
  const KernelLaws laws = hand_made_laws();
  Kernel copy{.kind = KernelKind::elementwise, .op = KernelOp::copy, .elements = 100'000'000};
  derive_sizes(copy);
  EXPECT_NEAR(energy_parts(laws, copy, 230).clocked_us, 30, 1e-9);
  EXPECT_EQ(energy_parts(laws, copy, 150).clocked_us, 0);
  Kernel small{.kind = KernelKind::elementwise, .op = KernelOp::copy, .elements = 1'000};
  derive_sizes(small);
  EXPECT_EQ(energy_parts(laws, small, 3).clocked_us, 3);
}

TEST(KernelLaws, WorkspacesOfConvolutionsAndSums) {
  const KernelLaws laws = hand_made_laws();
  Kernel conv{.kind = KernelKind::convolution,
              .precision = KernelPrecision::bf16,
              .batch = 2,
              .c = 4,
              .o = 8,
              .h = 16,
              .w = 16,
              .oh = 16,
              .ow = 16,
              .kernel_h = 3,
              .kernel_w = 3};
  EXPECT_EQ(workspace_bytes(laws, conv), 2 * (2 * 256 * (4 + 8) + 4 * 8 * 9));
  conv.channels_last = true;
  EXPECT_EQ(workspace_bytes(laws, conv), 0);
  // gpu measurements: 8,192 rows of 768 columns stage 50,332,160 bytes less 512 of rounding, with 132 multiprocessors
  KernelLaws h200 = laws;
  h200.multiprocessors = 132;
  const Kernel sum{.kind = KernelKind::elementwise, .op = KernelOp::sum_rows, .rows = 8192, .columns = 768};
  EXPECT_EQ(workspace_bytes(h200, sum), 50332160 - 512);
}

}  // namespace
}  // namespace monet
