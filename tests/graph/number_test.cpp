// Do codes and numbers of every element type belong to each other, and does rounding find the nearest?
#include "graph/number.h"

#include "support/infinity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace monet {
namespace {

using test::infinity;
using enum ElementType;

const double not_a_number = std::numeric_limits<double>::quiet_NaN();

ElementType named(std::string_view name) {
  const auto type = element_type_named(name);
  EXPECT_TRUE(type.has_value()) << name;
  return type.value_or(float32);
}

// Bits of a code: tf32 takes more memory than it has code.
int code_bits(ElementType type) {
  if (!is_floating(type)) return bits_of(type);
  const FloatLayout layout = layout_of(type);
  return (layout.has_sign ? 1 : 0) + layout.exponent_bits + layout.mantissa_bits;
}

std::vector<ElementType> types_with_few_codes() {
  std::vector<ElementType> types = {float16,        bfloat16,   tfloat32,   float8e4m3fn, float8e4m3fnuz, float8e5m2,
                                    float8e5m2fnuz, float8e8m0, float6e3m2, float6e2m3,   float4e2m1,     int16,
                                    int8,           int4,       uint16,     uint8,        uint4};
  // Some that a user may define, the extremes among them.
  for (const char* name : {"fp7e3m3", "fp7e3m3n", "fp12e5m6i", "fp3e2m0", "fp5e4m0n", "fp9e8m0", "fp4e2m1i", "fp4e2m1n",
                           "fp16e8m7", "fp14e2m11i", "int2", "int3", "int5", "int12"})
    types.push_back(named(name));
  return types;
}

TEST(Number, EveryCodeStandsForItself) {
  for (const ElementType type : types_with_few_codes()) {
    std::uint32_t numbers = 0;
    for (std::uint32_t code = 0; code < std::uint32_t{1} << code_bits(type); ++code) {
      const double number = decoded(code, type);
      if (std::isnan(number)) {
        EXPECT_TRUE(std::isnan(decoded(encoded(number, type), type)));
        continue;
      }
      ++numbers;
      ASSERT_EQ(encoded(number, type, false), code) << name_of(type) << " " << number;
      const double kept = rounded(number, type, Rounding::nearest, 0, false);
      ASSERT_EQ(kept, number) << name_of(type);
      ASSERT_EQ(std::signbit(kept), std::signbit(number)) << name_of(type) << " " << code;
      ASSERT_EQ(rounded(number, type, Rounding::stochastic, 0.999, false), number) << name_of(type) << " " << code;
    }
    EXPECT_GE(numbers, std::uint32_t{1} << (code_bits(type) - 1)) << name_of(type);
  }
}

// How many codes are no numbers follows from the definitions: OCP's specifications of 8-bit formats and of MX, ONNX's
// of fnuz, IEEE 754.
TEST(Number, CountsOfWhatIsNotANumber) {
  const auto count = [](ElementType type) {
    int found = 0;
    for (std::uint32_t code = 0; code < std::uint32_t{1} << code_bits(type); ++code)
      found += std::isnan(decoded(code, type)) ? 1 : 0;
    return found;
  };
  EXPECT_EQ(count(float8e4m3fn), 2);
  EXPECT_EQ(count(float8e5m2), 6);
  EXPECT_EQ(count(float8e4m3fnuz), 1);
  EXPECT_EQ(count(float8e5m2fnuz), 1);
  EXPECT_EQ(count(float8e8m0), 1);
  EXPECT_EQ(count(float6e3m2) + count(float6e2m3) + count(float4e2m1), 0);
  EXPECT_EQ(count(float16), 2 * 1023);
  EXPECT_EQ(count(bfloat16), 2 * 127);
  EXPECT_EQ(count(named("fp7e3m3n")), 2);
}

// OCP MX specification v1.0 (as in reference/hardware/mx_formats.csv), IEEE 754 for the others.
TEST(Number, HasTheLimitsOfItsSpecification) {
  struct Limits {
    ElementType type;
    int bias, emax;
    double largest, smallest_normal, smallest;
  };
  for (const Limits& its : {
           Limits{float8e5m2, 15, 15, 57344, 0x1p-14, 0x1p-16},
           Limits{float8e4m3fn, 7, 8, 448, 0x1p-6, 0x1p-9},
           Limits{float6e3m2, 3, 4, 28, 0x1p-2, 0x1p-4},
           Limits{float6e2m3, 1, 2, 7.5, 1, 0.125},
           Limits{float4e2m1, 1, 2, 6, 1, 0.5},
           Limits{float16, 15, 15, 65504, 0x1p-14, 0x1p-24},
           Limits{bfloat16, 127, 127, 0x1.fep127, 0x1p-126, 0x1p-133},
           Limits{tfloat32, 127, 127, 0x1.ffcp127, 0x1p-126, 0x1p-136},
           Limits{float32, 127, 127, std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
                  std::numeric_limits<float>::denorm_min()},
       }) {
    const FloatLayout layout = layout_of(its.type);
    EXPECT_EQ(layout.bias, its.bias) << name_of(its.type);
    EXPECT_EQ(largest_exponent(its.type), its.emax) << name_of(its.type);
    EXPECT_EQ(largest_number(its.type), its.largest) << name_of(its.type);
    EXPECT_EQ(decoded(std::uint32_t{1} << layout.mantissa_bits, its.type), its.smallest_normal) << name_of(its.type);
    EXPECT_EQ(decoded(1, its.type), its.smallest) << name_of(its.type);
  }
  EXPECT_EQ(largest_number(float8e4m3fnuz), 240);  // ONNX, "Float stored in 8 bits"
  EXPECT_EQ(largest_number(float8e5m2fnuz), 57344);
  EXPECT_EQ(largest_number(float8e8m0), 0x1p127);
  EXPECT_EQ(decoded(0, float8e8m0), 0x1p-127);
  EXPECT_EQ(largest_number(int8), 127);
  EXPECT_EQ(largest_exponent(int8), 6);
  EXPECT_EQ(largest_number(uint4), 15);
  EXPECT_EQ(largest_number(uint32), 4294967295.0);
  EXPECT_LT(largest_number(int64), 0x1p63);
  EXPECT_LT(largest_number(uint64), 0x1p64);
  EXPECT_EQ(largest_number(float64), std::numeric_limits<double>::max());
}

// Every finite number of a type, in order, with its code.
struct Coded {
  double number;
  std::uint32_t code;
};

std::vector<Coded> all_numbers(ElementType type) {
  std::vector<Coded> all;
  for (std::uint32_t code = 0; code < std::uint32_t{1} << code_bits(type); ++code) {
    const double number = decoded(code, type);
    if (std::isfinite(number) && !(number == 0 && std::signbit(number))) all.push_back({number, code});
  }
  std::ranges::sort(all, {}, &Coded::number);
  return all;
}

// By the definition: the nearest of all numbers; of two, the one with the even code.
double nearest_of(const std::vector<Coded>& all, double value, bool larger) {
  const auto above = std::ranges::lower_bound(all, value, {}, &Coded::number);
  if (above == all.end()) return all.back().number;
  if (above == all.begin()) return all.front().number;
  const auto below = above - 1;
  const double up = above->number - value;
  const double down = value - below->number;
  if (up != down) return up < down ? above->number : below->number;
  return larger || above->code % 2 == 0 ? above->number : below->number;
}

TEST(Number, RoundsToTheNearestOfAllNumbers) {
  std::mt19937_64 random(7);
  std::int64_t checked = 0;
  for (const ElementType type : types_with_few_codes()) {
    const std::vector<Coded> all = all_numbers(type);
    const bool larger = type == float8e8m0;
    const auto check = [&](double value) {
      const double expected = nearest_of(all, value, larger);
      ASSERT_EQ(rounded(value, type), expected) << name_of(type) << " " << value;
      ASSERT_EQ(decoded(encoded(value, type), type), expected) << name_of(type) << " " << value;
      ++checked;
    };
    const std::size_t stride = std::max<std::size_t>(1, all.size() / 20000);
    for (std::size_t i = 0; i + 1 < all.size(); i += stride) {
      const double middle = all[i].number + (all[i + 1].number - all[i].number) / 2;
      for (const double value : {middle, std::nextafter(middle, -infinity), std::nextafter(middle, infinity),
                                 std::nextafter(all[i].number, infinity), std::nextafter(all[i].number, -infinity)})
        check(value);
    }
    const double most = std::log2(largest_number(type)) + 2;
    std::uniform_real_distribution<double> exponent(std::max(-160.0, -most - 12), most);
    for (int i = 0; i < 5000; ++i) {
      const double magnitude = std::exp2(exponent(random));
      check(magnitude);
      check(-magnitude);
    }
    for (const double value : {1e300, -1e300, 1e-300, -1e-300, 4e-320, infinity, -infinity}) check(value);
  }
  EXPECT_GT(checked, 500000);
}

// What the processor itself does with float.
TEST(Number, SinglePrecisionIsThatOfTheProcessor) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t bits = random();
    const auto code = static_cast<std::uint32_t>(bits);
    const auto number = static_cast<double>(std::bit_cast<float>(code));
    if (!std::isnan(number)) {
      ASSERT_EQ(decoded(code, float32), number);
      ASSERT_EQ(encoded(number, float32, false), code);
    }
    // Doubles whose exponents are those of single precision, subnormal ones among them, and a little more.
    const double value = std::ldexp(1 + static_cast<double>(bits >> 12) * 0x1p-52, static_cast<int>(bits % 290) - 155) *
                         (bits >> 11 & 1 ? -1 : 1);
    ASSERT_EQ(rounded(value, float32, Rounding::nearest, 0, false), static_cast<double>(static_cast<float>(value)));
    ASSERT_EQ(encoded(value, float32, false), std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }
}

// Codes from IEEE 754 (float16), the OCP specifications of 8-bit and microscaling formats, and ONNX's table of fnuz.
TEST(Number, KnowsPublishedCodes) {
  struct Code {
    ElementType type;
    double value;
    std::uint32_t bits;
  };
  for (const Code& code : {
           Code{float16, 1, 0x3c00},
           Code{float16, -2, 0xc000},
           Code{float16, 65504, 0x7bff},
           Code{float16, 65519, 0x7bff},
           Code{float16, 65520, 0x7c00},
           Code{float16, 0x1p-24, 0x0001},
           Code{float16, 0x1p-25, 0x0000},
           Code{float16, 0x1.8p-25, 1},
           Code{float16, 0x1p-14, 0x0400},
           Code{float16, -infinity, 0xfc00},
           Code{float16, -0.0, 0x8000},
           Code{float16, 1 + 0x1p-11, 0x3c00},
           Code{float16, 1 + 0x3p-11, 0x3c02},
           Code{bfloat16, 1, 0x3f80},
           Code{bfloat16, 3.0e38, 0x7f62},
           Code{bfloat16, infinity, 0x7f80},
           Code{float8e4m3fn, 448, 0x7e},
           Code{float8e4m3fn, 1e9, 0x7e},
           Code{float8e4m3fn, 0x1p-9, 0x01},
           Code{float8e4m3fn, -1, 0xb8},
           Code{float8e5m2, 57344, 0x7b},
           Code{float8e5m2, infinity, 0x7c},
           Code{float8e5m2, 0x1p-16, 1},
           Code{float8e4m3fnuz, 240, 0x7f},
           Code{float8e4m3fnuz, -0.0, 0},
           Code{float8e4m3fnuz, 1, 0x40},
           Code{float8e5m2fnuz, 57344, 0x7f},
           Code{float8e5m2fnuz, 1, 0x40},
           Code{float8e8m0, 1, 127},
           Code{float8e8m0, 0x1p-127, 0},
           Code{float8e8m0, 8, 130},
           Code{float4e2m1, 6, 7},
           Code{float4e2m1, 0.5, 1},
           Code{float4e2m1, -1.5, 0xb},
           Code{float4e2m1, 100, 7},
           Code{int8, -128, 0x80},
           Code{int8, -1, 0xff},
           Code{int8, 1e9, 0x7f},
           Code{int4, -2, 0xe},
           Code{uint8, -3, 0},
           Code{uint16, 65535, 0xffff},
           Code{int32, -1, 0xffffffff},
           Code{boolean, 0.5, 1},
       }) {
    EXPECT_EQ(encoded(code.value, code.type, false), code.bits) << name_of(code.type) << " " << code.value;
  }
}

TEST(Number, WhatIsNotANumberStaysItWhereItCan) {
  EXPECT_EQ(encoded(not_a_number, float8e4m3fn), 0x7fU);
  EXPECT_EQ(encoded(not_a_number, float8e5m2fnuz), 0x80U);
  EXPECT_EQ(encoded(not_a_number, float8e5m2), 0x7eU);
  EXPECT_EQ(encoded(not_a_number, float8e8m0), 0xffU);
  EXPECT_EQ(encoded(not_a_number, float16), 0x7e00U);
  EXPECT_TRUE(std::isnan(rounded(not_a_number, float64)));
  EXPECT_TRUE(std::isnan(rounded(not_a_number, float8e4m3fn, Rounding::stochastic, 0.5)));
  EXPECT_EQ(rounded(not_a_number, float4e2m1), 6);
  EXPECT_EQ(rounded(not_a_number, float6e2m3), 7.5);
  EXPECT_EQ(rounded(not_a_number, int8), 127);
  EXPECT_EQ(rounded(not_a_number, int64), largest_number(int64));
}

TEST(Number, SaturatesUnlessItNeedNot) {
  for (const ElementType type : types_with_few_codes()) {
    EXPECT_EQ(rounded(infinity, type), largest_number(type)) << name_of(type);
    EXPECT_EQ(rounded(1e300, type), largest_number(type)) << name_of(type);
    const bool infinite = is_floating(type) && layout_of(type).specials == Specials::ieee;
    EXPECT_EQ(rounded(infinity, type, Rounding::nearest, 0, false), infinite ? infinity : largest_number(type));
    EXPECT_EQ(rounded(1e300, type, Rounding::stochastic, 0.5, false), infinite ? infinity : largest_number(type));
  }
  EXPECT_EQ(rounded(-1e9, float8e5m2), -57344);
  EXPECT_EQ(rounded(-1e9, float8e5m2, Rounding::nearest, 0, false), -infinity);
  EXPECT_EQ(rounded(61439, float8e5m2, Rounding::nearest, 0, false), 57344);  // below the middle to 65536
  EXPECT_EQ(rounded(61440, float8e5m2, Rounding::nearest, 0, false), infinity);
}

TEST(Number, DoublePrecisionPassesUnchanged) {
  for (const double value : {0.1, -1e308, 4e-324, infinity}) EXPECT_EQ(rounded(value, float64), value);
}

TEST(Number, WholeNumbers) {
  EXPECT_EQ(rounded(2.5, int8), 2);
  EXPECT_EQ(rounded(3.5, int8), 4);
  EXPECT_EQ(rounded(-2.5, int32), -2);
  EXPECT_EQ(rounded(-200, int8), -128);
  EXPECT_EQ(rounded(-1, uint64), 0);
  EXPECT_EQ(rounded(0x1p53 + 2, int64), 0x1p53 + 2);
  EXPECT_EQ(rounded(-1e30, int64), -0x1p63);
  EXPECT_EQ(rounded(2.5, int64), 2);
  EXPECT_EQ(rounded(0.25, int64, Rounding::stochastic, 0.75), 1);
  EXPECT_EQ(rounded(0.25, int64, Rounding::stochastic, 0.7), 0);
  EXPECT_FALSE(std::signbit(rounded(-0.25, int8)));
  EXPECT_FALSE(std::signbit(rounded(-0.25, int64)));
  EXPECT_EQ(rounded(0.0, boolean), 0);
  EXPECT_EQ(rounded(-3.0, boolean), 1);
}

// For chances spread evenly the mean is the value itself.
TEST(Number, StochasticRoundingIsUnbiased) {
  constexpr int chances = 1 << 12;
  std::mt19937_64 random(11);
  for (const ElementType type : types_with_few_codes()) {
    const std::vector<Coded> all = all_numbers(type);
    for (int i = 0; i < 20; ++i) {
      const std::size_t at = random() % (all.size() - 1);
      const double low = all[at].number;
      const double high = all[at + 1].number;
      const double value = low + (high - low) * static_cast<double>(random() % 1000) / 1000;
      double ups = 0;
      for (int k = 0; k < chances; ++k) {
        const double result = rounded(value, type, Rounding::stochastic, (k + 0.5) / chances);
        ASSERT_TRUE(result == low || result == high) << name_of(type) << " " << value;
        ups += result == high ? 1 : 0;
      }
      EXPECT_NEAR(ups / chances, (value - low) / (high - low), 1.0 / chances) << name_of(type) << " " << value;
    }
  }
}

TEST(Number, StochasticRoundingOfWhatIsBelowTheSmallest) {
  EXPECT_EQ(rounded(0x1p-12, float8e4m3fn, Rounding::stochastic, 0.87), 0);
  EXPECT_EQ(rounded(0x1p-12, float8e4m3fn, Rounding::stochastic, 0.875), 0x1p-9);
  EXPECT_EQ(rounded(-0x1p-12, float8e4m3fn, Rounding::stochastic, 0.875), -0x1p-9);
  EXPECT_EQ(rounded(1e-300, float32, Rounding::stochastic, 0.99), 0);
}

}  // namespace
}  // namespace monet
