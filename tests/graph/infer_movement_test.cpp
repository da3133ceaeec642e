#include "graph/infer.h"

#include "graph/inferred.h"
#include "support/nest_check.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using test::infer_complaint;
using test::inferred;
using test::inferred_shape;
using test::largest_integer;
using test::real;
using test::smallest_integer;
using test::whole;

Attributes pads(Shape amounts, std::string mode = "constant") { return {{Attr::pads, amounts}, {Attr::mode, mode}}; }
Attributes along(std::int64_t axis) { return {{Attr::axis, axis}}; }
Attributes reducing(std::int64_t axis, std::string how = "none") {
  return {{Attr::axis, axis}, {Attr::reduction, how}};
}

Attributes resized(std::vector<double> scales, Shape shape, std::string mode = "linear") {
  return {{Attr::mode, mode},
          {Attr::scales, scales},
          {Attr::coordinate_mode, std::string("half_pixel")},
          {Attr::nearest_mode, std::string("floor")},
          {Attr::cubic_coeff_a, -0.75},
          {Attr::exclude_outside, std::int64_t{0}},
          {Attr::extrapolation_value, 0.0},
          {Attr::antialias, std::int64_t{0}},
          {Attr::roi, std::vector<double>{}},
          {Attr::shape, shape}};
}

TEST(InferMovement, Pad) {
  EXPECT_EQ(inferred_shape(Op::Pad, {real({3, 4})}, pads({1, 0, 2, -3})), (Shape{6, 1}));
  EXPECT_EQ(inferred_shape(Op::Pad, {real({0})}, pads({1, 2})), (Shape{3}));
  EXPECT_EQ(infer_complaint(Op::Pad, {real({3, 4})}, pads({1, 0})), "Pad of 3x4: 2 pads are given where 4 are needed");
  EXPECT_EQ(infer_complaint(Op::Pad, {real({3})}, pads({-2, -2})),
            "Pad of 3: constant pads of -2 and -2 along axis 0 are not possible");
  EXPECT_EQ(infer_complaint(Op::Pad, {real({0})}, pads({1, 0}, "edge")),
            "Pad of 0: edge pads of 1 and 0 along axis 0 are not possible");
  EXPECT_EQ(infer_complaint(Op::Pad, {real({3})}, pads({1, 0}, "mirror")), "Pad has no mode 'mirror'");
  for (std::int64_t begin : {smallest_integer, largest_integer}) {
    for (std::int64_t end : {smallest_integer, largest_integer})
      EXPECT_FALSE(inferred(Op::Pad, {real({3})}, pads({begin, end})).has_value());
  }
}

TEST(InferMovement, Tile) {
  EXPECT_EQ(inferred_shape(Op::Tile, {real({2, 3})}, {{Attr::repeats, Shape{2, 0}}}), (Shape{4, 0}));
  EXPECT_EQ(infer_complaint(Op::Tile, {real({2, 3})}, {{Attr::repeats, Shape{2, -1}}}),
            "Tile of 2x3: it cannot be repeated [2, -1] times");
  EXPECT_FALSE(inferred(Op::Tile, {real({2})}, {{Attr::repeats, Shape{largest_integer}}}).has_value());
}

TEST(InferMovement, GatherAndScatter) {
  EXPECT_EQ(inferred_shape(Op::Gather, {real({2, 3, 4}), whole({5, 6})}, along(1)), (Shape{2, 5, 6, 4}));
  EXPECT_EQ(inferred_shape(Op::Gather, {real({7}), whole({})}, along(0)), (Shape{}));
  EXPECT_EQ(infer_complaint(Op::Gather, {real({2, 3}), real({4})}, along(0)),
            "Gather of 2x3, 4: its indices are fp32, not integers");
  EXPECT_EQ(infer_complaint(Op::Gather, {real({2, 3}), whole({4})}, along(2)), "Gather of 2x3, 4: there is no axis 2");
  EXPECT_EQ(inferred_shape(Op::GatherElements, {real({2, 3}), whole({5, 3})}, along(0)), (Shape{5, 3}));
  EXPECT_EQ(infer_complaint(Op::GatherElements, {real({2, 3}), whole({5, 4})}, along(0)),
            "GatherElements of 2x3, 5x4: the indices do not fit the data along axis 0");
  EXPECT_EQ(inferred_shape(Op::GatherND, {real({2, 3, 4}), whole({2, 5, 1})}, {{Attr::batch_dims, std::int64_t{1}}}),
            (Shape{2, 5, 4}));
  EXPECT_EQ(infer_complaint(Op::GatherND, {real({2, 3}), whole({5, 3})}, {{Attr::batch_dims, std::int64_t{0}}}),
            "GatherND of 2x3, 5x3: indices of 3 numbers do not fit the data");
  EXPECT_EQ(infer_complaint(Op::GatherND, {real({2, 3}), whole({5, 1})}, {{Attr::batch_dims, smallest_integer}}),
            "GatherND of 2x3, 5x1: -9223372036854775808 batch axes are not possible");
  EXPECT_EQ(inferred_shape(Op::ScatterElements, {real({4, 3}), whole({2, 3}), real({2, 3})}, reducing(0)),
            (Shape{4, 3}));
  EXPECT_EQ(infer_complaint(Op::ScatterElements, {real({4, 3}), whole({2, 3}), real({2, 2})}, reducing(0)),
            "ScatterElements of 4x3, 2x3, 2x2: indices and updates differ");
  EXPECT_EQ(infer_complaint(Op::ScatterElements, {real({4, 3}), whole({2, 3}), real({2, 3})}, reducing(0, "mean")),
            "ScatterElements has no reduction 'mean'");
  EXPECT_EQ(infer_complaint(Op::ScatterND, {real({4, 3}), whole({2, 1}), real({2, 4})}, reducing(0)),
            "ScatterND of 4x3, 2x1, 2x4: the updates must be 2x3");
}

TEST(InferMovement, Resize) {
  EXPECT_EQ(inferred_shape(Op::Resize, {real({1, 2, 4, 4})}, resized({1, 1, 2, 2}, {1, 2, 8, 8})), (Shape{1, 2, 8, 8}));
  EXPECT_EQ(infer_complaint(Op::Resize, {real({4, 4})}, resized({2}, {8, 8})),
            "Resize of 4x4: 1 scales and a result of 8x8 do not fit");
  EXPECT_EQ(infer_complaint(Op::Resize, {real({4})}, resized({-1}, {8})), "Resize of 4: a scale of -1 is not possible");
  EXPECT_EQ(infer_complaint(Op::Resize, {real({4})}, resized({0.1}, {0})), "Resize of 4: it cannot become 0");
  EXPECT_EQ(infer_complaint(Op::Resize, {real({4})}, resized({2}, {8}, "sinc")), "Resize has no mode 'sinc'");
  EXPECT_FALSE(inferred(Op::Resize, {real({4})}, resized({std::numeric_limits<double>::quiet_NaN()}, {8})).has_value());
}

TEST(InferMovement, Gradients) {
  const auto table = [](std::int64_t axis, Shape shape) {
    return Attributes{{Attr::axis, axis}, {Attr::shape, shape}};
  };
  EXPECT_EQ(inferred_shape(Op::GatherGrad, {real({2, 5, 6, 4}), whole({5, 6})}, table(1, {2, 3, 4})), (Shape{2, 3, 4}));
  EXPECT_EQ(inferred_shape(Op::GatherGrad, {real({}), whole({})}, table(0, {7})), (Shape{7}));
  EXPECT_EQ(infer_complaint(Op::GatherGrad, {real({5, 4}), whole({5})}, table(0, {3, 3})),
            "GatherGrad of 5x4, 5: the gradient must be 5x3 for a table of 3x3");
  EXPECT_EQ(infer_complaint(Op::GatherGrad, {real({5, 4}), real({5})}, table(0, {3, 4})),
            "GatherGrad of 5x4, 5: its indices are fp32, not integers");
  EXPECT_EQ(infer_complaint(Op::GatherGrad, {real({5, 4}), whole({5})}, table(2, {3, 4})),
            "GatherGrad of 5x4, 5: there is no axis 2");
  EXPECT_FALSE(inferred(Op::GatherGrad, {real({5, 4}), whole({5})}, table(0, {-3, 4})).has_value());
  EXPECT_EQ(inferred_shape(Op::ResizeGrad, {real({8})}, resized({2}, {4})), (Shape{4}));
  EXPECT_EQ(infer_complaint(Op::ResizeGrad, {real({8})}, resized({2}, {4, 4})),
            "ResizeGrad of 8: there is no such Resize: Resize of 4x4: 1 scales and a result of 8 do not fit");
  EXPECT_EQ(infer_complaint(Op::ResizeGrad, {real({8})}, resized({2}, {-4})),
            "ResizeGrad of 8: it cannot become -4: an axis of negative size");
  const TensorType mask{{4}, {.element = ElementType::boolean}};
  EXPECT_EQ(inferred_shape(Op::DropoutGrad, {real({4}), mask}, {{Attr::ratio, 0.5}}), (Shape{4}));
  EXPECT_EQ(infer_complaint(Op::DropoutGrad, {real({4}), mask}, {{Attr::ratio, 1.0}}), "DropoutGrad has the ratio 1");
  EXPECT_EQ(infer_complaint(Op::DropoutGrad, {real({5}), mask}, {{Attr::ratio, 0.5}}),
            "DropoutGrad has a gradient of 5 and a mask of 4");
  EXPECT_EQ(infer_complaint(Op::DropoutGrad, {real({4}), real({4})}, {{Attr::ratio, 0.5}}),
            "the mask of DropoutGrad is fp32, not boolean");
}

TEST(InferMovement, Others) {
  EXPECT_EQ(inferred_shape(Op::OneHot, {whole({2, 3}), real({2})},
                           {{Attr::axis, std::int64_t{1}}, {Attr::depth, std::int64_t{5}}}),
            (Shape{2, 5, 3}));
  EXPECT_EQ(infer_complaint(Op::OneHot, {whole({2}), real({3})},
                            {{Attr::axis, std::int64_t{1}}, {Attr::depth, std::int64_t{5}}}),
            "OneHot of 2, 3: it needs two values: off and on");
  EXPECT_EQ(infer_complaint(Op::Trilu, {real({4})}, {{Attr::upper, std::int64_t{1}}, {Attr::k, std::int64_t{0}}}),
            "Trilu of 4: it needs at least two axes");
  EXPECT_EQ(infer_complaint(Op::ReverseSequence, {real({4, 3}), whole({4})},
                            {{Attr::batch_axis, std::int64_t{1}}, {Attr::time_axis, std::int64_t{0}}}),
            "ReverseSequence of 4x3, 4: batch axis 1, time axis 0 and the lengths do not fit");
  EXPECT_EQ(
      infer_complaint(Op::MaxUnpool, {real({1, 1, 2, 2}), whole({1, 1, 2, 2})}, {{Attr::shape, Shape{1, 2, 4, 4}}}),
      "MaxUnpool of 1x1x2x2, 1x1x2x2: it cannot be spread over 1x2x4x4");
  const Attributes sampling = {{Attr::mode, std::string("linear")},
                               {Attr::padding_mode, std::string("zeros")},
                               {Attr::align_corners, std::int64_t{0}}};
  EXPECT_EQ(inferred_shape(Op::GridSample, {real({1, 3, 4, 5}), real({1, 6, 7, 2})}, sampling), (Shape{1, 3, 6, 7}));
  EXPECT_EQ(infer_complaint(Op::GridSample, {real({1, 3, 4, 5}), real({1, 6, 7, 3})}, sampling),
            "GridSample of 1x3x4x5, 1x6x7x3: the grid does not fit the image");
}

TEST(InferGenerate, Complaints) {
  EXPECT_EQ(infer_complaint(Op::Dropout, {real({4})}, {{Attr::ratio, 1.0}}), "Dropout has the ratio 1");
  EXPECT_EQ(infer_complaint(Op::Bernoulli, {real({4})}, {{Attr::to, largest_integer}}),
            "Bernoulli asks for the unknown element type 9223372036854775807");
  EXPECT_EQ(infer_complaint(
                Op::Range, {},
                {{Attr::shape, Shape{2, 2}}, {Attr::start, 0.0}, {Attr::delta, 1.0}, {Attr::to, std::int64_t{0}}}),
            "Range cannot give a tensor of 2x2: it has one axis");
}

}  // namespace
}  // namespace monet
