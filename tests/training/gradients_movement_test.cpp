// Does every rule for movements agree with central differences?
#include "support/expect_error.h"
#include "support/nest_check.h"
#include "training/expect_gradient.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;

Attributes pads(Integers amounts, std::string mode) { return {{Attr::pads, amounts}, {Attr::mode, mode}}; }

TEST(MovementGradients, OfPad) {
  for (const std::string mode : {"constant", "reflect", "edge", "wrap"}) {
    for (const Integers& amounts : {Integers{1, 2, 2, 0}, Integers{0, 3, 1, 3}, Integers{-1, 2, 0, -1},
                                    Integers{0, 0, 0, 0}, Integers{-1, -1, 0, -2}}) {
      expect_gradient(Op::Pad, {real({3, 5})}, pads(amounts, mode));
    }
    expect_gradient(Op::Pad, {real({1, 5})}, pads({1, 0, 1, 0}, mode));
  }
  expect_gradient(Op::Pad, {real({3, 4}), real({})}, pads({1, 0, 2, 3}, "constant"));
  expect_gradient(Op::Pad, {real({3, 4}), real({1})}, pads({-1, 2, 2, 0}, "constant"));
  expect_gradient(Op::Pad, {real({3}), real({})}, pads({2, 2}, "reflect"));
  // Edges may be repeated as often as one likes; mirrors and wraps only once.
  expect_gradient(Op::Pad, {real({2})}, pads({5, 4}, "edge"));
  expect_gradient(Op::Pad, {real({2})}, pads({2, 2}, "wrap"));
  for (const std::string mode : {"reflect", "wrap"}) {
    const auto error = operator_gradient_error(Op::Pad, {real({2})}, pads({3, 0}, mode));
    ASSERT_FALSE(error.has_value());
    expect_error(error.error(), {mode, "pads of 3 and 0", "an axis of 2"}, "node 'node' (Pad)");
  }
}

TEST(MovementGradients, OfTileAndTriangles) {
  for (const Integers& repeats : {Integers{1, 1}, Integers{3, 1}, Integers{2, 4}, Integers{0, 2}}) {
    expect_gradient(Op::Tile, {real({2, 3})}, {{Attr::repeats, repeats}});
  }
  for (std::int64_t upper : {0, 1}) {
    for (std::int64_t k : {-2, 0, 1, 5}) {
      expect_gradient(Op::Trilu, {real({2, 3, 4})}, {{Attr::upper, upper}, {Attr::k, k}});
    }
  }
}

TEST(MovementGradients, OfGather) {
  const Array indices{{2, 3}, {0, 2, -1, 1, 2, -3}};  // twice the same, and from the end
  for (std::int64_t axis : {0, 1, 2}) {
    const Attributes along = {{Attr::axis, axis}};
    expect_gradient(Op::Gather, {real({3, 4, 3}), whole({2, 3})}, along, {{1, indices}});
    expect_gradient(Op::Gather, {real({3, 4, 3}), whole({})}, along, {{1, {{}, {-2}}}});
    expect_gradient(Op::Gather, {real({3, 4, 3}), whole({1})}, along, {{1, {{1}, {1}}}});
    expect_gradient(Op::Gather, {real({3, 4, 3}), whole({0})}, along, {{1, {{0}, {}}}});
  }
  expect_gradient(Op::Gather, {real({5}), whole({2, 3})}, {{Attr::axis, std::int64_t{0}}}, {{1, indices}});
}

TEST(MovementGradients, OfGatherSaveTheIndicesOnly) {
  GraphBuilder builder("embedding");
  const TensorId table = builder.parameter("table", {10, 4});
  const TensorId words = builder.input("words", {2, 3}, ElementType::int64);
  builder.output(builder.add(Op::Gather, "embedding", {table, words}, {{Attr::axis, std::int64_t{0}}}));
  const auto checked = check_gradients(
      *builder.finish(), {{table, random_array({10, 4}, 1)}, {words, {{2, 3}, {1, 1, 5, 0, 9, 5}}}}, {table});
  ASSERT_TRUE(checked.has_value()) << checked.error().text();
  EXPECT_LE(checked->worst(), 1e-6);
  for (const Node& node : checked->step.nodes()) {
    EXPECT_EQ(std::ranges::count(node.inputs, table), node.phase == Phase::forward ? 1 : 0) << node.name;
  }
}

TEST(MovementGradients, OfGatherElementsAndTuples) {
  for (std::int64_t axis : {0, 1}) {
    expect_gradient(Op::GatherElements, {real({3, 3}), whole({2, 3})}, {{Attr::axis, axis}},
                    {{1, {{2, 3}, {0, 2, -1, 0, 2, 1}}}});
  }
  const auto tuples = [](std::int64_t batch) { return Attributes{{Attr::batch_dims, batch}}; };
  expect_gradient(Op::GatherND, {real({3, 4, 2}), whole({4, 2})}, tuples(0),
                  {{1, {{4, 2}, {0, 1, 2, -1, 0, 1, 1, 3}}}});
  expect_gradient(Op::GatherND, {real({3, 4}), whole({2, 1})}, tuples(0), {{1, {{2, 1}, {2, 2}}}});
  expect_gradient(Op::GatherND, {real({2, 3, 4}), whole({2, 3, 1})}, tuples(1),
                  {{1, {{2, 3, 1}, {0, 2, 2, -1, 0, 1}}}});
  expect_gradient(Op::GatherND, {real({2, 2, 3, 2}), whole({2, 2, 2, 1})}, tuples(2),
                  {{1, {{2, 2, 2, 1}, {0, 2, 1, 1, -1, 0, 2, 0}}}});
}

TEST(MovementGradients, OfScatter) {
  for (const std::string how : {"none", "add"}) {
    for (std::int64_t axis : {0, 1}) {
      expect_gradient(Op::ScatterElements, {real({4, 3}), whole({2, 3}), real({2, 3})},
                      {{Attr::axis, axis}, {Attr::reduction, how}}, {{1, {{2, 3}, {0, 2, 1, 1, 0, -1}}}});
    }
    expect_gradient(Op::ScatterND, {real({4, 3}), whole({2, 1}), real({2, 3})}, {{Attr::reduction, how}},
                    {{1, {{2, 1}, {-1, 1}}}});
    expect_gradient(Op::ScatterND, {real({4, 3}), whole({3, 2}), real({3})}, {{Attr::reduction, how}},
                    {{1, {{3, 2}, {0, 1, 2, 2, 3, 0}}}});
  }
  expect_gradient(Op::ScatterND, {real({4, 3}), whole({2, 1}), real({2, 3})}, {{Attr::reduction, std::string("add")}},
                  {{1, {{2, 1}, {1, 1}}}});
  for (const std::string how : {"mul", "max", "min"}) {
    const auto error = operator_gradient_error(Op::ScatterND, {real({4, 3}), whole({1, 1}), real({1, 3})},
                                               {{Attr::reduction, how}}, 1, {{1, {{1, 1}, {0}}}});
    ASSERT_FALSE(error.has_value());
    expect_error(error.error(), {"the reduction '" + how + "'"}, "node 'node' (ScatterND)");
  }
}

Attributes resizing(std::string mode, std::string coordinates, const Shape& from, const Shape& to) {
  std::vector<double> scales;
  for (std::size_t i = 0; i < from.size(); ++i)
    scales.push_back(static_cast<double>(to[i]) / static_cast<double>(from[i]));
  std::vector<double> region(from.size(), 0.1);
  region.resize(2 * from.size(), 1.2);  // beyond the end
  return {{Attr::mode, mode},
          {Attr::scales, scales},
          {Attr::coordinate_mode, coordinates},
          {Attr::nearest_mode, std::string("round_prefer_floor")},
          {Attr::cubic_coeff_a, -0.75},
          {Attr::exclude_outside, std::int64_t{0}},
          {Attr::extrapolation_value, 3.0},
          {Attr::antialias, std::int64_t{0}},
          {Attr::roi, region},
          {Attr::shape, to}};
}

TEST(MovementGradients, OfResize) {
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    for (const std::string coordinates : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                          "asymmetric", "tf_crop_and_resize"}) {
      for (const auto& [from, to] : std::vector<std::pair<Shape, Shape>>{
               {{2, 3, 4}, {2, 6, 8}}, {{1, 5, 4}, {1, 2, 7}}, {{2, 1, 3}, {2, 3, 1}}, {{2, 3, 4}, {2, 3, 4}}}) {
        expect_gradient(Op::Resize, {real(from)}, resizing(mode, coordinates, from, to));
      }
    }
  }
}

TEST(MovementGradients, OfResizeInEveryVariant) {
  const Shape from = {3, 5};
  const Shape to = {7, 4};
  for (const std::string rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
    Attributes attributes = resizing("nearest", "half_pixel", from, to);
    attributes.set(Attr::nearest_mode, rounding);
    expect_gradient(Op::Resize, {real(from)}, attributes);
  }
  for (double a : {-0.5, -0.75}) {
    for (std::int64_t exclude : {0, 1}) {
      Attributes attributes = resizing("cubic", "half_pixel", from, to);
      attributes.set(Attr::cubic_coeff_a, a);
      attributes.set(Attr::exclude_outside, exclude);
      expect_gradient(Op::Resize, {real(from)}, attributes);
    }
  }
  // Scales that are not the ratio of the sizes, as a file may give them.
  Attributes attributes = resizing("linear", "half_pixel", from, {7, 4});
  attributes.set(Attr::scales, std::vector<double>{2.4, 0.9});
  expect_gradient(Op::Resize, {real(from)}, attributes);
}

// Places inside and outside the image; none where an element or an end of the image lies.
Array grid_values(const Shape& shape) {
  Array grid = random_array(shape, 5);
  for (double& value : grid.values) value *= 1.43;
  return grid;
}

TEST(MovementGradients, OfGridSample) {
  for (const std::string padding : {"zeros", "border", "reflection"}) {
    for (std::int64_t align : {0, 1}) {
      for (const std::string mode : {"nearest", "linear"}) {
        const Attributes attributes = {{Attr::mode, mode}, {Attr::padding_mode, padding}, {Attr::align_corners, align}};
        expect_gradient(Op::GridSample, {real({2, 3, 4, 5}), real({2, 3, 2, 2})}, attributes,
                        {{1, grid_values({2, 3, 2, 2})}});
        expect_gradient(Op::GridSample, {real({1, 2, 1, 4}), real({1, 2, 3, 2})}, attributes,
                        {{1, grid_values({1, 2, 3, 2})}});
        expect_gradient(Op::GridSample, {real({1, 2, 3, 2, 4}), real({1, 2, 1, 3, 3})}, attributes,
                        {{1, grid_values({1, 2, 1, 3, 3})}});
      }
    }
  }
  const auto cubic = operator_gradient_error(Op::GridSample, {real({1, 1, 4, 4}), real({1, 2, 2, 2})},
                                             {{Attr::mode, std::string("cubic")},
                                              {Attr::padding_mode, std::string("zeros")},
                                              {Attr::align_corners, std::int64_t{0}}});
  ASSERT_FALSE(cubic.has_value());
  expect_error(cubic.error(), {"cubic sampling cannot be differentiated"}, "(GridSample)");
}

TEST(MovementGradients, OfOneHotReverseAndUnpool) {
  expect_gradient(Op::OneHot, {whole({2, 3}), real({2})},
                  {{Attr::axis, std::int64_t{1}}, {Attr::depth, std::int64_t{4}}},
                  {{0, {{2, 3}, {0, 3, -1, 7, 2, 0}}}});
  for (std::int64_t time : {0, 1}) {
    expect_gradient(Op::ReverseSequence, {real({3, 3, 2}), whole({3})},
                    {{Attr::batch_axis, 1 - time}, {Attr::time_axis, time}}, {{1, {{3}, {0, 2, 3}}}});
  }
  expect_gradient(Op::MaxUnpool, {real({1, 2, 2, 2}), whole({1, 2, 2, 2})}, {{Attr::shape, Shape{1, 2, 4, 4}}},
                  {{1, {{1, 2, 2, 2}, {0, 3, 9, 14, 16, 19, 25, 31}}}});
}

}  // namespace
}  // namespace monet::test
