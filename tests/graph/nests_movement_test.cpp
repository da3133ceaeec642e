#include "graph/nests.h"

#include "base/checked.h"
#include "support/nest_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace monet {
namespace {

using test::real;

OperatorNests nests(Op op, const Attributes& attributes, const std::vector<TensorType>& inputs,
                    const TensorType& output) {
  OperatorSite site{.op = op, .attributes = attributes, .inputs = {}, .outputs = {&output}};
  for (const TensorType& input : inputs) site.inputs.push_back(&input);
  return nests_of(site);
}

std::int64_t count(const OperatorNests& operation, Count kind) { return (*operation_counts(operation))[kind]; }

TEST(MovementNests, PadReadsShifted) {
  const auto operation = nests(Op::Pad, {{Attr::pads, Shape{0, 2, 0, 1}}, {Attr::mode, std::string("constant")}},
                               {real({3, 4})}, real({3, 7}));
  EXPECT_EQ(operation.nests[0].reads[0].axes[1], at_loop(1, 1, -2));
  EXPECT_EQ(count(operation, Count::move), 21);
  const auto reflected = nests(Op::Pad, {{Attr::pads, Shape{0, 2, 0, 1}}, {Attr::mode, std::string("reflect")}},
                               {real({3, 4})}, real({3, 7}));
  EXPECT_EQ(reflected.nests[0].reads[0].axes[0], at_loop(0));
  EXPECT_EQ(reflected.nests[0].reads[0].axes[1], at_any(4));
}

TEST(MovementNests, TileStaysAffine) {
  const auto operation = nests(Op::Tile, {{Attr::repeats, Shape{1, 3}}}, {real({2, 5})}, real({2, 15}));
  const Nest& nest = operation.nests[0];
  ASSERT_EQ(nest.loops.size(), 3U);
  EXPECT_EQ(nest.loops[2].size, 3);
  EXPECT_EQ(nest.writes[0].axes[1].terms, (std::vector<Term>{{1, 1}, {2, 5}}));
  EXPECT_EQ(count(operation, Count::move), 30);
}

TEST(MovementNests, GatherReadsItsWholeTable) {
  const auto operation =
      nests(Op::Gather, {{Attr::axis, std::int64_t{0}}}, {real({100, 8}), real({2, 3})}, real({2, 3, 8}));
  const Nest& nest = operation.nests[0];
  EXPECT_EQ(nest.reads[0].axes, (std::vector<AxisIndex>{at_any(100), at_loop(2)}));
  EXPECT_EQ(nest.reads[1].axes, (std::vector<AxisIndex>{at_loop(0), at_loop(1)}));
  EXPECT_EQ(count(operation, Count::move), 48);
}

TEST(MovementNests, ScatterCopiesThenUpdates) {
  const auto operation = nests(Op::ScatterND, {{Attr::reduction, std::string("add")}},
                               {real({10, 4}), real({3, 1}), real({3, 4})}, real({10, 4}));
  ASSERT_EQ(operation.nests.size(), 2U);
  EXPECT_TRUE(operation.nests[1].writes[0].accumulate);
  EXPECT_EQ(operation.nests[1].writes[0].axes, (std::vector<AxisIndex>{at_any(10), at_loop(1)}));
  EXPECT_EQ(count(operation, Count::move), 40);
  EXPECT_EQ(count(operation, Count::add), 12);
}

TEST(MovementNests, GatherGradZerosItsTableThenAdds) {
  const auto operation = nests(Op::GatherGrad, {{Attr::axis, std::int64_t{0}}, {Attr::shape, Shape{100, 8}}},
                               {real({2, 3, 8}), real({2, 3})}, real({100, 8}));
  ASSERT_EQ(operation.nests.size(), 2U);
  EXPECT_TRUE(operation.nests[1].writes[0].accumulate);
  EXPECT_EQ(operation.nests[1].writes[0].axes, (std::vector<AxisIndex>{at_any(100), at_loop(2)}));
  EXPECT_EQ(count(operation, Count::move), 800);
  EXPECT_EQ(count(operation, Count::add), 48);
}

TEST(GenerateNests, DropoutGradReadsTheMask) {
  const auto operation = nests(Op::DropoutGrad, {{Attr::ratio, 0.5}}, {real({4, 5}), real({4, 5})}, real({4, 5}));
  EXPECT_EQ(operation.nests[0].reads.size(), 2U);
  EXPECT_EQ(count(operation, Count::multiply), 40);
}

TEST(GenerateNests, DropoutWritesItsMask) {
  const Attributes attributes = {{Attr::ratio, 0.5}};
  const TensorType x = real({4, 5});
  const TensorType mask = {{4, 5}, {.element = ElementType::boolean}};
  const auto operation =
      nests_of({.op = Op::Dropout, .attributes = attributes, .inputs = {&x}, .outputs = {&x, &mask}});
  EXPECT_EQ(operation.nests[0].writes.size(), 2U);
  EXPECT_EQ(count(operation, Count::random), 20);
}

TEST(GenerateNests, CountsOfChance) {
  using enum Count;
  const auto counts = [](Op op, const std::vector<TensorType>& inputs) {
    return *operation_counts(nests(op, {}, inputs, real({4, 5})));
  };
  EXPECT_EQ(counts(Op::Dropout, {real({4, 5})}), counts_of({{random, 20}, {compare, 20}, {multiply, 20}}));
  EXPECT_EQ(counts(Op::RandomUniform, {}), counts_of({{random, 20}, {multiply, 20}, {add, 20}}));
  EXPECT_EQ(counts(Op::RandomNormal, {}),
            counts_of({{random, 20}, {multiply, 60}, {add, 20}, {log, 20}, {sqrt, 20}, {trigonometric, 20}}));
}

// ---- Resize: the neighbours that are read contain those that ONNX's definition names.

struct ResizeCase {
  std::string mode;
  std::string coordinate_mode;
  std::string nearest_mode;
  double scale;
  std::int64_t from;
  std::int64_t to;
};

Attributes attributes_of(const ResizeCase& c) {
  return {{Attr::mode, c.mode},
          {Attr::scales, std::vector<double>{c.scale}},
          {Attr::coordinate_mode, c.coordinate_mode},
          {Attr::nearest_mode, c.nearest_mode},
          {Attr::cubic_coeff_a, -0.75},
          {Attr::exclude_outside, std::int64_t{0}},
          {Attr::extrapolation_value, 0.0},
          {Attr::antialias, std::int64_t{0}},
          {Attr::roi, std::vector<double>{}},
          {Attr::shape, Shape{c.to}}};
}

double coordinate(const ResizeCase& c, double o) {
  const auto from = static_cast<double>(c.from);
  const auto to = static_cast<double>(c.to);
  if (c.coordinate_mode == "asymmetric") return o / c.scale;
  if (c.coordinate_mode == "align_corners") return c.to == 1 ? 0 : o * (from - 1) / (to - 1);
  if (c.coordinate_mode == "pytorch_half_pixel" && c.to == 1) return 0;
  double x = (o + 0.5) / c.scale - 0.5;
  if (c.coordinate_mode == "half_pixel_symmetric") x += from / 2 * (1 - to / (c.scale * from));
  return x;
}

std::vector<std::int64_t> positions(const ResizeCase& c, double x) {
  const auto floor = static_cast<std::int64_t>(std::floor(x + 1e-9));
  std::vector<std::int64_t> result;
  if (c.mode == "linear") result = {floor, floor + 1};
  if (c.mode == "cubic") result = {floor - 1, floor, floor + 1, floor + 2};
  if (c.mode == "nearest") {
    const double rounded = c.nearest_mode == "floor"               ? std::floor(x + 1e-9)
                           : c.nearest_mode == "ceil"              ? std::ceil(x - 1e-9)
                           : c.nearest_mode == "round_prefer_ceil" ? std::floor(x + 0.5 + 1e-9)
                                                                   : std::ceil(x - 0.5 - 1e-9);
    result = {static_cast<std::int64_t>(rounded)};
  }
  for (std::int64_t& position : result) position = std::clamp<std::int64_t>(position, 0, c.from - 1);
  return result;
}

void expect_covered(const ResizeCase& c) {
  const auto operation = nests(Op::Resize, attributes_of(c), {real({c.from})}, real({c.to}));
  const AxisIndex& index = operation.nests[0].reads[0].axes[0];
  if (index.anywhere || (c.scale == 1 && c.from == c.to)) return;  // an axis that stays as it is has one tap
  for (std::int64_t o = 0; o < c.to; ++o) {
    const std::int64_t factor = index.terms.empty() ? 0 : index.terms[0].factor;
    const std::int64_t first = floor_divide(o * factor + index.offset, index.divisor);
    for (std::int64_t position : positions(c, coordinate(c, static_cast<double>(o)))) {
      ASSERT_TRUE(position >= first && position < first + index.span)
          << c.mode << ' ' << c.coordinate_mode << ' ' << c.nearest_mode << ' ' << c.from << " -> " << c.to << " at "
          << o << ": " << position << " is not among " << index.span << " from " << first;
    }
  }
}

TEST(ResizeNests, CoverWhatIsRead) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates :
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"}) {
      for (const char* nearest : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
        for (std::int64_t from : {1, 2, 5, 16, 31}) {
          for (double scale : {0.1, 0.3, 0.5, 0.77, 1.0, 1.3, 2.0, 2.5, 3.0, 7.7}) {
            const auto to = static_cast<std::int64_t>(std::floor(static_cast<double>(from) * scale));
            if (to > 0) expect_covered({mode, coordinates, nearest, scale, from, to});
          }
          for (std::int64_t to : {1, 3, 8, 64}) {
            expect_covered({mode, coordinates, nearest, static_cast<double>(to) / static_cast<double>(from), from, to});
          }
        }
      }
    }
  }
}

TEST(ResizeNests, AreTightForWholeScales) {
  const ResizeCase doubled = {"nearest", "asymmetric", "floor", 2.0, 16, 32};
  const auto operation = nests(Op::Resize, attributes_of(doubled), {real({16})}, real({32}));
  const AxisIndex& index = operation.nests[0].reads[0].axes[0];
  EXPECT_EQ(index.span, 1);
  EXPECT_EQ(index.offset, 0);
  EXPECT_EQ(index.terms, (std::vector<Term>{{0, 16}}));
  EXPECT_EQ(index.divisor, 32);
  const ResizeCase smooth = {"linear", "half_pixel", "floor", 2.0, 16, 32};
  EXPECT_EQ(nests(Op::Resize, attributes_of(smooth), {real({16})}, real({32})).nests[0].reads[0].axes[0].span, 2);
}

TEST(ResizeNests, CountTaps) {
  const ResizeCase c = {"cubic", "half_pixel", "floor", 2.0, 4, 8};
  Attributes attributes = attributes_of(c);
  attributes.set(Attr::scales, std::vector<double>{1, 2, 2});
  attributes.set(Attr::shape, Shape{3, 8, 8});
  const auto operation = nests(Op::Resize, attributes, {real({3, 4, 4})}, real({3, 8, 8}));
  EXPECT_EQ(count(operation, Count::multiply), 16 * 192);
  EXPECT_EQ(count(operation, Count::add), 15 * 192);
  // The gradient multiplies as often, and adds every product to what is there.
  attributes.set(Attr::shape, Shape{3, 4, 4});
  const auto gradient = nests(Op::ResizeGrad, attributes, {real({3, 8, 8})}, real({3, 4, 4}));
  EXPECT_EQ(count(gradient, Count::multiply), 16 * 192);
  EXPECT_EQ(count(gradient, Count::add), 16 * 192);
  EXPECT_EQ(count(gradient, Count::move), 48);
}

}  // namespace
}  // namespace monet
