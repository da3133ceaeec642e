// How many bytes does a tensor take, in plain, 4-bit and block formats?
#include "graph/format.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using enum ElementType;

std::int64_t plain(const Shape& shape, ElementType type) { return bytes(shape, {.element = type}); }

TEST(Format, PlainTypes) {
  EXPECT_EQ(plain({2, 3}, float32), 24);
  EXPECT_EQ(plain({2, 3}, float64), 48);
  EXPECT_EQ(plain({2, 3}, bfloat16), 12);
  EXPECT_EQ(plain({2, 3}, float8e4m3fn), 6);
  EXPECT_EQ(plain({2, 3}, int64), 48);
  EXPECT_EQ(plain({2, 3}, boolean), 6);
  EXPECT_EQ(plain({}, float32), 4);
  EXPECT_EQ(plain({3, 0}, float32), 0);
}

TEST(Format, FourBitTypesAreRoundedUpToABytePerTensor) {
  EXPECT_EQ(plain({4}, int4), 2);
  EXPECT_EQ(plain({3}, int4), 2);
  EXPECT_EQ(plain({3, 3}, uint4), 5);  // 9 halves, not 3 rows of 2
  EXPECT_EQ(plain({}, float4e2m1), 1);
}

TEST(Format, BlocksShareAScaleAlongTheLastAxis) {
  const Format mxfp8{.element = float8e4m3fn, .scale_bits = 8, .group_axis = -1, .group_size = 32, .group_rows = 1};
  EXPECT_EQ(bytes(Shape{4, 64}, mxfp8), 4 * 64 + 4 * 2);
  const Format mxfp4{.element = float4e2m1, .scale_bits = 8, .group_axis = -1, .group_size = 32, .group_rows = 1};
  EXPECT_EQ(bytes(Shape{4, 64}, mxfp4), 4 * 64 / 2 + 4 * 2);
}

TEST(Format, BlocksArePaddedToWholeOnes) {
  const Format mx{.element = float8e4m3fn, .scale_bits = 8, .group_axis = -1, .group_size = 32, .group_rows = 1};
  EXPECT_EQ(bytes(Shape{2, 33}, mx), 2 * 64 + 2 * 2);
  EXPECT_EQ(bytes(Shape{1}, mx), 32 + 1);
}

TEST(Format, BlocksAlongAnotherAxis) {
  const Format columns{.element = int8, .scale_bits = 16, .group_axis = -2, .group_size = 16, .group_rows = 1};
  EXPECT_EQ(bytes(Shape{3, 20, 5}, columns), 3 * 32 * 5 + 3 * 2 * 5 * 2);
}

TEST(Format, SquareBlocks) {
  const Format square{.element = int8, .scale_bits = 8, .group_axis = -1, .group_size = 8, .group_rows = 8};
  EXPECT_EQ(bytes(Shape{16, 24}, square), 16 * 24 + 2 * 3);
  EXPECT_EQ(bytes(Shape{9, 9}, square), 16 * 16 + 2 * 2);
}

Format read(std::string_view text) {
  const auto format = parse_format(text);
  EXPECT_TRUE(format.has_value()) << text;
  return format.value_or(Format{});
}

// OCP MX specification v1.0: a block of k elements of d bits takes 8 + k d bits. NVFP4: 4.5 bits, and 4 bytes in all.
TEST(Format, BitsOfAnElementWithItsShareOfScales) {
  EXPECT_EQ(stored_bits(read("fp8e4m3:e8m0/32@-1")), 8.25);
  EXPECT_EQ(stored_bits(read("fp6e3m2:e8m0/32@-1")), 6.25);
  EXPECT_EQ(stored_bits(read("fp4e2m1:e8m0/32@-1")), 4.25);
  EXPECT_EQ(stored_bits(read("int8:e8m0/8x8@-1")), 8.125);
  EXPECT_EQ(stored_bits(read("int8:e8m0/16@-1+1/2")), 9);  // MX9, MX6, MX4 (ISCA 2023)
  EXPECT_EQ(stored_bits(read("int5:e8m0/16@-1+1/2")), 6);
  EXPECT_EQ(stored_bits(read("int3:e8m0/16@-1+1/2")), 4);
  EXPECT_EQ(stored_bits(read("fp4e2m1:fp8e4m3/16@-1+tensor32")), 4.5);
  EXPECT_EQ(stored_bits(read("int8:fp32/tensor")), 8);
  EXPECT_EQ(stored_bits(read("int8:e8m0/5@-1+1/2")), 8 + 8.0 / 5 + 3.0 / 5);  // subgroups of 2, 2 and 1
}

TEST(Format, BytesOfChannelsTensorsAndSecondLevels) {
  EXPECT_EQ(bytes(Shape{4, 6}, read("int8:fp32/tensor")), 24 + 4);
  EXPECT_EQ(bytes(Shape{4, 6}, read("int8:fp32/channel@-1")), 24 + 6 * 4);
  EXPECT_EQ(bytes(Shape{4, 6}, read("int8:fp32/channel@-2")), 24 + 4 * 4);
  EXPECT_EQ(bytes(Shape{4, 32}, read("fp4e2m1:fp8e4m3/16@-1+tensor32")), 64 + 8 + 4);
  EXPECT_EQ(bytes(Shape{4, 6}, read("int8:bf16/channel@-1+tensor32")), 24 + 6 * 2 + 4);
  EXPECT_EQ(bytes(Shape{2, 32}, read("int8:e8m0/16@-1+1/2")), 64 * 9 / 8);
  EXPECT_EQ(bytes(Shape{16, 8}, read("int8:e8m0/8x8@-1+1/2")), 128 + 2 * (1 + 32 / 8));
  // Subgroups do not reach over rows: 2 · ceil(3 / 2) of them.
  EXPECT_EQ(bytes(Shape{2, 3}, read("int8:e8m0/2x3@-1+8/2")), 6 + 1 + 4);
}

TEST(Format, StoredBitsAreTheBytesOfWholeGroups) {
  for (const char* text : {"fp8e4m3:e8m0/32@-1", "fp6e3m2:e8m0/16@-2", "int8:e8m0/8x8@-1", "int5:e8m0/16@-1+1/2",
                           "int8:e8m0/4x6@-1+3/4", "int8:fp16/2x2@-2"}) {
    const Shape shape = {96, 96, 96};
    EXPECT_DOUBLE_EQ(static_cast<double>(bytes(shape, read(text))), 96 * 96 * 96 * stored_bits(read(text)) / 8) << text;
  }
}

TEST(Format, Extremes) {
  // A group larger than its axis; rows without an axis for them.
  EXPECT_EQ(bytes(Shape{3, 5}, read("int8:e8m0/65535@-1")), 3 * 65535 + 3);
  EXPECT_EQ(bytes(Shape{5}, read("int8:e8m0/8x4@-1")), 8 + 2);
  EXPECT_EQ(padded_shape(Shape{5}, read("int8:e8m0/8x4@-1")), (Shape{8}));
  EXPECT_EQ(padded_shape(Shape{3, 5, 7}, read("int8:e8m0/8x4@-2")), (Shape{8, 8, 7}));
  EXPECT_EQ(padded_shape(Shape{3, 5, 7}, read("int8:fp32/channel@-2")), (Shape{3, 5, 7}));
  // Nothing, and no scales of nothing.
  for (const char* text : {"int8:e8m0/32@-1", "int8:e8m0/8x8@-2", "int8:fp32/tensor", "int8:fp32/channel@-1",
                           "fp4e2m1:fp8e4m3/16@-1+tensor32"})
    EXPECT_EQ(bytes(Shape{0, 5, 3}, read(text)), 0) << text;
  EXPECT_EQ(padded_shape(Shape{4, 0}, read("int8:e8m0/32@-1")), (Shape{4, 0}));
  // A scalar: itself and its scales.
  EXPECT_EQ(bytes(Shape{}, read("int8:e8m0/32@-1")), 2);
  EXPECT_EQ(bytes(Shape{}, read("int8:fp32/tensor")), 5);
  EXPECT_EQ(bytes(Shape{}, read("int8:fp32/channel@-1")), 5);
  EXPECT_EQ(bytes(Shape{}, read("int8:e8m0/16@-1+1/2")), 3);
  EXPECT_EQ(bytes(Shape{}, read("fp4e2m1:fp8e4m3/16@-1+tensor32")), 6);
}

TEST(Format, NamesAreOneToOne) {
  for (int i = 0; i <= static_cast<int>(boolean); ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(element_type_named(name_of(type)), type);
    EXPECT_EQ(is_floating(type) + is_integer(type) + (type == boolean), 1);
    EXPECT_TRUE(is_integer(type) || !is_signed_integer(type));
  }
  EXPECT_EQ(element_type_named("fp33"), std::nullopt);
}

}  // namespace
}  // namespace monet
