// Does a tensor become what its format can hold: scales by the rules, groups where they belong, errors within bounds?
#include "graph/quantize.h"

#include "support/infinity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace monet {
namespace {

using test::infinity;

Format format(std::string_view text) {
  const auto parsed = parse_format(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(Format{});
}

using Doubles = std::vector<double>;

Doubles quantized(Doubles values, const Shape& shape, std::string_view text, const QuantizeOptions& options = {}) {
  quantize(values, shape, format(text), options);
  return values;
}

// Magnitudes over many binades, zeros, both signs.
Doubles random_tensor(const Shape& shape, std::uint64_t seed, int binades = 20) {
  std::mt19937_64 random(seed);
  Doubles values(static_cast<std::size_t>(element_count(shape)));
  for (double& value : values) {
    const double mantissa = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
    value =
        random() % 16 == 0 ? 0.0 : std::ldexp(mantissa, static_cast<int>(random() % static_cast<unsigned>(binades)));
    if (random() % 2 == 0) value = -value;
  }
  return values;
}

// --- by the definitions, slowly: groups as sets of positions, exponents by std::ilogb -------------------------------

// Which group, and which of its subgroups, an element belongs to.
using Place = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;

Place place_of(std::int64_t position, const Shape& shape, const Format& its) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; position /= shape[i]) index[i] = position % shape[i];
  if (its.grouping == Grouping::tensor || shape.empty()) return {};
  const std::size_t axis = shape.size() - static_cast<std::size_t>(-its.group_axis);
  if (its.grouping == Grouping::channel) return {{index[axis]}, {}};
  std::vector<std::int64_t> group = index;
  std::vector<std::int64_t> sub = index;
  group[axis] /= its.group_size;
  sub[axis] = index[axis] % its.group_size / its.subgroup_size;
  if (axis > 0) group[axis - 1] /= its.group_rows;
  return {group, sub};
}

double nearest_element(double value, ElementType type) {
  if (is_integer(type)) return std::clamp(std::nearbyint(value), -largest_number(type), largest_number(type));
  return decoded(encoded(value, type), type);
}

Doubles by_definition(const Doubles& values, const Shape& shape, const Format& its) {
  std::map<std::vector<std::int64_t>, double> largest;
  std::map<Place, double> largest_of_sub;
  double largest_of_all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Place place = place_of(static_cast<std::int64_t>(i), shape, its);
    for (double* most : {&largest[place.first], &largest_of_sub[place], &largest_of_all})
      *most = std::max(*most, std::abs(values[i]));
  }
  const double most = largest_number(its.element);
  const double tensor_scale =
      its.tensor_scale_bits > 0
          ? static_cast<double>(static_cast<float>(largest_of_all / (most * largest_number(its.scale))))
          : 1;
  Doubles result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Place place = place_of(static_cast<std::int64_t>(i), shape, its);
    double step = 0;
    if (its.scale == ElementType::float8e8m0) {
      const bool real = is_floating(its.element);
      const int exponent = largest[place.first] == 0 ? -127 : std::ilogb(largest[place.first]);
      const int shared = std::clamp(exponent - (real ? largest_exponent(its.element) : 0), -127, 127);
      const int own = largest_of_sub[place] == 0 ? -1000 : std::ilogb(largest_of_sub[place]);
      const int shift = std::clamp(exponent - own, 0, (1 << its.subscale_bits) - 1);
      step = std::ldexp(1.0, shared - shift - (real ? 0 : bits_of(its.element) - 2));
    } else {
      step = decoded(encoded(largest[place.first] / most / tensor_scale, its.scale), its.scale) * tensor_scale;
    }
    result.push_back(step == 0 ? 0 : nearest_element(values[i] / step, its.element) * step);
  }
  return result;
}

const std::vector<std::string> power_formats = {
    "fp8e4m3:e8m0/32@-1",   "fp8e5m2:e8m0/32@-2",  "fp6e3m2:e8m0/32@-1",  "fp6e2m3:e8m0/5@-3",    "fp4e2m1:e8m0/32@-1",
    "int8:e8m0/32@-1",      "int8:e8m0/8x8@-1",    "fp4e2m1:e8m0/8x8@-2", "fp8e4m3:e8m0/3x5@-1",  "int8:e8m0/16@-1+1/2",
    "int5:e8m0/16@-2+1/2",  "int3:e8m0/16@-1+1/2", "int8:e8m0/16@-1+2/3", "int8:e8m0/8x8@-1+1/2", "int8:e8m0/tensor",
    "int8:e8m0/channel@-1", "fp7e3m3:e8m0/4@-1",   "int6:e8m0/1@-1",      "fp16:e8m0/7@-1"};
const std::vector<std::string> float_formats = {"int8:fp32/tensor",
                                                "int8:fp32/channel@-1",
                                                "int8:fp32/channel@-2",
                                                "int4:bf16/channel@-3",
                                                "fp8e4m3:fp32/tensor",
                                                "fp8e5m2:fp32/8x8@-1",
                                                "int8:fp16/32@-2",
                                                "fp4e2m1:fp8e4m3/16@-1+tensor32",
                                                "fp4e2m1:fp8e4m3/4x4@-2+tensor32"};

TEST(Quantize, IsWhatTheDefinitionsSay) {
  const std::vector<Shape> shapes = {{4, 6, 64}, {3, 17, 33}, {2, 40, 1}, {1, 1, 70}, {5, 9, 8}, {2, 3, 4, 20}};
  std::uint64_t seed = 0;
  std::int64_t compared = 0;
  for (const auto* formats : {&power_formats, &float_formats}) {
    for (const std::string& text : *formats) {
      for (const Shape& shape : shapes) {
        const Doubles values = random_tensor(shape, ++seed);
        const Doubles expected = by_definition(values, shape, format(text));
        const Doubles result = quantized(values, shape, text);
        for (std::size_t i = 0; i < values.size(); ++i, ++compared)
          ASSERT_EQ(result[i], expected[i])
              << text << " of " << to_string(shape) << ", element " << i << ": " << values[i];
      }
    }
  }
  EXPECT_GT(compared, 100000);
}

// --- examples by hand ------------------------------------------------------------------------------------------------

TEST(Quantize, ScalesFollowTheRuleOfOcp) {
  struct Case {
    std::string_view format;
    double largest;
    int exponent;  // of the scale
  };
  for (const Case& one : {
           Case{"fp8e4m3:e8m0/32@-1", 448, 0},       // emax 8
           Case{"fp8e4m3:e8m0/32@-1", 511.9, 0},     // saturates rather than take the next scale
           Case{"fp8e4m3:e8m0/32@-1", 512, 1},       //
           Case{"fp8e5m2:e8m0/32@-1", 1, -15},       // emax 15
           Case{"fp6e3m2:e8m0/32@-1", 1, -4},        // emax 4
           Case{"fp6e2m3:e8m0/32@-1", 1, -2},        // emax 2
           Case{"fp4e2m1:e8m0/32@-1", 1, -2},        // emax 2
           Case{"int8:e8m0/32@-1", 1.99, 0},         // emax 0
           Case{"int8:e8m0/32@-1", 0x1p-140, -127},  // the smallest scale
           Case{"int8:e8m0/32@-1", 0, -127},         //
           Case{"int8:e8m0/32@-1", 1e300, 127},      // the largest
           Case{"int8:e8m0/32@-1", infinity, 127},   //
           Case{"fp8e5m2:e8m0/32@-1", 0x1p-120, -127},
       }) {
    Doubles values = {0, one.largest, 0, -one.largest / 3};
    std::vector<double> scales;
    quantize(values, {4}, format(one.format), {}, &scales);
    ASSERT_EQ(scales.size(), 1U);
    EXPECT_EQ(scales[0], std::ldexp(1.0, one.exponent)) << one.format << " " << one.largest;
  }
}

TEST(Quantize, BlocksByHand) {
  // Largest 6: scale 2^(2-2); 0.3 is nearest 0.5, 0.25 is halfway and goes to the even 0, 5 is halfway and goes to 4.
  EXPECT_EQ(quantized({6, 0.3, 0.25, 5, -3.4}, {5}, "fp4e2m1:e8m0/32@-1"), (Doubles{6, 0.5, 0, 4, -3}));
  // 7.9 saturates.
  EXPECT_EQ(quantized({7.9, -7.9, 1}, {3}, "fp4e2m1:e8m0/32@-1"), (Doubles{6, -6, 1}));
  // Steps of 1/64, and no -128/64 although two's complement has it.
  EXPECT_EQ(quantized({1.999, -1.999, 0.01, 0.0078125}, {4}, "int8:e8m0/32@-1"),
            (Doubles{127.0 / 64, -127.0 / 64, 1.0 / 64, 0}));
  // Two groups, the second incomplete: scales 1 and 1/16, and 4.8 is nearest 4.
  EXPECT_EQ(quantized({4, 0.3, 0.3}, {3}, "fp4e2m1:e8m0/2@-1"), (Doubles{4, 0.5, 0.25}));
}

TEST(Quantize, GroupsLieAlongTheirAxis) {
  // Columns of two: {1, 8} and {100, 0.1}.
  std::vector<double> scales;
  Doubles values = {1, 100, 8, 0.1};
  quantize(values, {2, 2}, format("int8:e8m0/2@-2"), {}, &scales);
  EXPECT_EQ(scales, (Doubles{8, 64}));
  EXPECT_EQ(values, (Doubles{1, 100, 8, 0}));
}

TEST(Quantize, SquareGroupsByHand) {
  // Two by two in three by three: corners, edges and the middle have their own elements only.
  std::vector<double> scales;
  Doubles values = {1, 2, 4, 8, 1, 1, 16, 32, 64};
  quantize(values, {3, 3}, format("int8:e8m0/2x2@-1"), {}, &scales);
  EXPECT_EQ(scales, (Doubles{8, 4, 32, 64}));
}

TEST(Quantize, MicroexponentsByHand) {
  // MX4: a sign and 2 bits, steps of 1/2 of the scale. The group's exponent is 2: scale 4, steps of 2; the pair
  // (1, 1.9) lies below by two, and is shifted by the one that fits in a bit: steps of 1. (3, 0) lies below by one.
  EXPECT_EQ(quantized({5, 1, 1, 1.9, 3, 0}, {6}, "int3:e8m0/16@-1+1/2"), (Doubles{4, 0, 1, 2, 3, 0}));
  // Two bits of microexponent: shifted by two, steps of 1/2.
  EXPECT_EQ(quantized({5, 1, 1, 1.9, 3, 0}, {6}, "int3:e8m0/16@-1+2/2"), (Doubles{4, 0, 1, 1.5, 3, 0}));
  // A subgroup of zeros, and one that saturates: 3.99 in steps of 1 would be 4 of at most 3.
  EXPECT_EQ(quantized({4, 0, 0, 0, 3.99, 0}, {6}, "int3:e8m0/16@-1+1/2"), (Doubles{4, 0, 0, 0, 3, 0}));
}

TEST(Quantize, FloatingPointScales) {
  std::vector<double> scales;
  Doubles values = {254, -127, 1, 3.2};
  quantize(values, {4}, format("int8:fp32/tensor"), {}, &scales);
  EXPECT_EQ(scales, (Doubles{2}));
  EXPECT_EQ(values, (Doubles{254, -128, 0, 4}));  // -63.5 is halfway, -64 even
  values = {254, 1, -508, 4.4};
  quantize(values, {2, 2}, format("int8:fp32/channel@-2"), {}, &scales);
  EXPECT_EQ(scales, (Doubles{2, 4}));
  EXPECT_EQ(values, (Doubles{254, 0, -508, 4}));
  // An fp8 scale of 1/512 at least: what needs less than half of that is lost.
  EXPECT_EQ(quantized({0x1p-11 * 6, 0x1p-9 * 6}, {2, 1}, "fp4e2m1:fp8e4m3/1@-1"), (Doubles{0, 0x1p-9 * 6}));
  EXPECT_EQ(quantized({0x1p-1000 * 6, 0}, {2, 1}, "int8:fp32/1@-1"), (Doubles{0, 0}));
}

TEST(Quantize, TwoLevelsOfFloatingPointScales) {
  // The largest, 2688 = 6 · 448, has tensor scale 1 and group scale 448; the group of 12s scale 2 (exact in fp8).
  std::vector<double> scales;
  Doubles values(32, 12.0);
  values[0] = 2688;
  quantize(values, {32}, format("fp4e2m1:fp8e4m3/16@-1+tensor32"), {}, &scales);
  EXPECT_EQ(scales, (Doubles{448, 2}));
  EXPECT_EQ(values[0], 2688);
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ(values[16], 12);
  EXPECT_EQ(quantized(Doubles(16, 0.0), {16}, "fp4e2m1:fp8e4m3/16@-1+tensor32"), Doubles(16, 0.0));
}

TEST(Quantize, WhatIsNotANumberTakesItsGroupAlong) {
  for (const char* text : {"fp4e2m1:e8m0/2@-1", "int8:e8m0/2@-1", "int8:fp32/2@-1", "int8:e8m0/2@-1+1/1"}) {
    const Doubles result = quantized({1, std::nan(""), 2, 4}, {4}, text);
    EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1])) << text;
    EXPECT_NEAR(result[2], 2, 0.02) << text;
    EXPECT_NEAR(result[3], 4, 0.02) << text;
  }
  const Doubles all = quantized({1, std::nan(""), 2, 4}, {4}, "fp4e2m1:fp8e4m3/2@-1+tensor32");
  EXPECT_TRUE(std::ranges::all_of(all, [](double value) { return std::isnan(value); }));
  EXPECT_TRUE(std::isnan(quantized({std::nan("")}, {1}, "bf16")[0]));
}

TEST(Quantize, InfinitiesSaturateInGroups) {
  EXPECT_EQ(quantized({infinity, 1}, {2}, "fp8e4m3:e8m0/32@-1"), (Doubles{std::ldexp(448, 127), 0}));
  EXPECT_EQ(quantized({-infinity, 1}, {2}, "int8:e8m0/32@-1")[0], -std::ldexp(127, 127 - 6));
  for (const std::string& text : float_formats) {
    for (const double value : quantized({infinity, 1, 0, -5}, {2, 1, 2}, text)) EXPECT_FALSE(std::isnan(value)) << text;
  }
}

TEST(Quantize, PlainFormats) {
  EXPECT_EQ(quantized({1 + 0x1p-9, 1e39, -1e39}, {3}, "bf16"), (Doubles{1, infinity, -infinity}));
  EXPECT_EQ(quantized({1e6, -1e6}, {2}, "fp8e5m2"), (Doubles{57344, -57344}));
  EXPECT_EQ(quantized({2.5, -300, 3.1}, {3}, "int8"), (Doubles{2, -128, 3}));
  EXPECT_EQ(quantized({0.1, 1e300}, {2}, "fp64"), (Doubles{0.1, 1e300}));
  EXPECT_EQ(quantized({0.1, 0}, {2}, "bool"), (Doubles{1, 0}));
  EXPECT_EQ(quantized({3, 0.3}, {2}, "fp8e8m0"), (Doubles{4, 0.25}));
}

TEST(Quantize, ScalarsAndEmptyTensors) {
  for (const auto* formats : {&power_formats, &float_formats}) {
    for (const std::string& text : *formats) {
      EXPECT_NEAR(quantized({3}, {}, text)[0], 3, 0.2) << text;
      std::vector<double> scales = {7};
      Doubles none;
      quantize(none, {3, 0, 2}, format(text), {}, &scales);
      EXPECT_TRUE(scales.empty()) << text;
    }
  }
  // Rows need an axis before theirs.
  EXPECT_EQ(quantized({1, 3}, {2}, "int8:e8m0/8x1@-1"), (Doubles{1, 3}));
}

// --- properties ------------------------------------------------------------------------------------------------------

TEST(Quantize, TwiceIsOnce) {
  for (const std::string& text : power_formats) {
    const Shape shape = {3, 9, 37};
    const Doubles once = quantized(random_tensor(shape, 5), shape, text);
    EXPECT_EQ(quantized(once, shape, text), once) << text;
  }
}

TEST(Quantize, PowersOfTwoPassThroughScales) {
  for (const std::string& text : power_formats) {
    const Shape shape = {3, 9, 37};
    const Doubles values = random_tensor(shape, 6);
    const Doubles result = quantized(values, shape, text);
    for (const int exponent : {-40, -3, 1, 50}) {
      Doubles scaled = values;
      for (double& value : scaled) value = std::ldexp(value, exponent);
      scaled = quantized(scaled, shape, text);
      for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(scaled[i], std::ldexp(result[i], exponent)) << text;
    }
  }
}

TEST(Quantize, ErrorsAreAtMostHalfAStep) {
  const Shape shape = {4, 50, 40};
  const Doubles values = random_tensor(shape, 9, 6);
  // Fixed point: half a step of the group, but for the largest, which saturates below the next power of two.
  std::vector<double> scales;
  Doubles result = values;
  quantize(result, shape, format("int8:e8m0/8@-1"), {}, &scales);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double scale = scales[i / 8];
    const double error = std::abs(result[i] - values[i]);
    const bool saturated = std::abs(values[i]) > scale * 127 / 64;
    ASSERT_LE(error, saturated ? scale / 64 : scale / 128);
  }
  // Floating point with m bits of mantissa: half an ulp, 2^-(m+1) of the value's power of two, unless saturated.
  result = quantized(values, shape, "fp8e4m3:e8m0/32@-1");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    const double ulp = std::ldexp(1.0, std::ilogb(values[i]) - 3);
    ASSERT_LE(std::abs(result[i] - values[i]), std::abs(result[i]) < std::abs(values[i]) ? 2 * ulp : ulp / 2);
  }
}

TEST(Quantize, SquareGroupsTransposeWithTheirTensor) {
  for (const std::int64_t rows : {8, 24, 13}) {
    for (const std::int64_t columns : {16, 5, 40}) {
      for (const char* text : {"int8:e8m0/8x8@-1", "fp8e4m3:e8m0/8x8@-1", "fp4e2m1:e8m0/4x4@-1", "int8:fp32/8x8@-1"}) {
        const Doubles values = random_tensor({rows, columns}, static_cast<std::uint64_t>(rows * columns));
        const auto transposed = [&](const Doubles& of, std::int64_t height, std::int64_t width) {
          Doubles other(of.size());
          for (std::int64_t i = 0; i < height; ++i) {
            for (std::int64_t k = 0; k < width; ++k)
              other[static_cast<std::size_t>(k * height + i)] = of[static_cast<std::size_t>(i * width + k)];
          }
          return other;
        };
        EXPECT_EQ(quantized(transposed(values, rows, columns), {columns, rows}, text),
                  transposed(quantized(values, {rows, columns}, text), rows, columns))
            << text;
      }
    }
  }
}

// --- chance ----------------------------------------------------------------------------------------------------------

TEST(Quantize, StochasticRoundingDependsOnSeedAndElementAlone) {
  const Shape shape = {6, 50};
  const Doubles values = random_tensor(shape, 2, 3);
  const auto with = [&](std::uint64_t seed) {
    return quantized(values, shape, "int4:e8m0/10@-1", {.rounding = Rounding::stochastic, .seed = seed});
  };
  EXPECT_EQ(with(1), with(1));
  EXPECT_NE(with(1), with(2));
  // The same elements alone: the first rows are the same.
  const Doubles part = quantized({values.begin(), values.begin() + 100}, {2, 50}, "int4:e8m0/10@-1",
                                 {.rounding = Rounding::stochastic, .seed = 1});
  const Doubles whole = with(1);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin()));
}

TEST(Quantize, StochasticRoundingIsUnbiasedOverElementsAndOverSeeds) {
  constexpr int count = 1 << 18;
  // Steps of 1: 0.3 is 1 in three of ten. The deviation of the mean is sqrt(0.21 / count) = 0.0009.
  Doubles values(count, 0.3);
  const QuantizeOptions options{.rounding = Rounding::stochastic, .seed = 42};
  quantize(values, {count}, format("int8"), options);
  double sum = 0;
  double neighbours = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    if (i > 0) neighbours += values[i] * values[i - 1];
  }
  EXPECT_NEAR(sum / count, 0.3, 0.005);
  EXPECT_NEAR(neighbours / count, 0.09, 0.005);  // independent of each other
  sum = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed)
    sum += quantized({0.3}, {1}, "int8", {.rounding = Rounding::stochastic, .seed = seed})[0];
  EXPECT_NEAR(sum / 20000, 0.3, 0.015);
}

}  // namespace
}  // namespace monet
