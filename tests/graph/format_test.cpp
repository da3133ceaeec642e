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
