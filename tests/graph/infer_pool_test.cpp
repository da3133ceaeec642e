// Are wrong windows refused, each with its reason?
#include "support/nest_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;
using testing::HasSubstr;

Attributes valid() {
  return {{Attr::kernel_shape, Integers{3, 3}}, {Attr::strides, Integers{2, 2}},
          {Attr::dilations, Integers{1, 1}},    {Attr::pads, Integers{0, 0, 0, 0}},
          {Attr::shape, Integers{1, 2, 3, 3}},  {Attr::storage_order, std::int64_t{0}},
          {Attr::p, std::int64_t{2}},           {Attr::count_include_pad, std::int64_t{0}}};
}

std::string window_complaint(Attr key, AttributeValue value, Op op = Op::MaxPool, Shape input = {1, 2, 8, 8}) {
  Attributes attributes = valid();
  attributes.set(key, std::move(value));
  const auto graph = single(op, floats({input}), attributes);
  return graph ? "" : graph.error().message;
}

TEST(InferPool, RoundsDownOrUp) {
  EXPECT_EQ(window_complaint(Attr::shape, Integers{1, 2, 3, 3}), "");
  EXPECT_EQ(window_complaint(Attr::shape, Integers{1, 2, 4, 3}), "");
  EXPECT_THAT(window_complaint(Attr::shape, Integers{1, 2, 5, 3}), HasSubstr("has 3 places along axis 2, not 5"));
  EXPECT_THAT(window_complaint(Attr::shape, Integers{1, 2, 3, 2}), HasSubstr("has 3 places along axis 3, not 2"));
}

TEST(InferPool, RefusesWindowsThatCannotBe) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(window_complaint(Attr::strides, Integers{0, 1}), HasSubstr("strides of MaxPool holds 0"));
  EXPECT_THAT(window_complaint(Attr::strides, Integers{1}),
              HasSubstr("strides of MaxPool has 1 values where 2 are needed"));
  EXPECT_THAT(window_complaint(Attr::kernel_shape, Integers{huge, huge}), HasSubstr("kernel_shape of MaxPool holds"));
  EXPECT_THAT(window_complaint(Attr::dilations, Integers{-1, 1}), HasSubstr("dilations of MaxPool holds -1"));
  EXPECT_THAT(window_complaint(Attr::pads, Integers{0, 0}),
              HasSubstr("pads of MaxPool has 2 values where 4 are needed"));
  EXPECT_THAT(window_complaint(Attr::pads, Integers{0, -3, 0, 0}), HasSubstr("pads of MaxPool holds -3"));
  EXPECT_THAT(window_complaint(Attr::kernel_shape, Integers{9, 3}), HasSubstr("spans 9 elements, more than the 8"));
  EXPECT_THAT(window_complaint(Attr::shape, Integers{1, 2, huge, 3}), HasSubstr("is to give a tensor"));
  EXPECT_THAT(window_complaint(Attr::shape, Integers{}), HasSubstr("cannot lead from 1x2x8x8 to scalar"));
  EXPECT_THAT(window_complaint(Attr::p, std::int64_t{0}, Op::LpPool), HasSubstr("p = 0"));
  EXPECT_THAT(window_complaint(Attr::p, std::int64_t{1}, Op::LpPool, {4}), HasSubstr("has an input of 4"));
}

TEST(InferPool, GradientHasTheShapeThatItsWindowSlidOver) {
  EXPECT_EQ(window_complaint(Attr::shape, Integers{1, 2, 8, 7}, Op::AveragePoolGrad, {1, 2, 3, 3}), "");
  EXPECT_THAT(window_complaint(Attr::shape, Integers{1, 2, 8, 2}, Op::AveragePoolGrad, {1, 2, 3, 3}),
              HasSubstr("spans 3"));
  EXPECT_THAT(window_complaint(Attr::shape, Integers{1, 3, 8, 8}, Op::AveragePoolGrad, {1, 2, 3, 3}),
              HasSubstr("cannot lead from 1x3x8x8 to 1x2x3x3"));
}

TEST(InferPool, GradientOfMaximumNeedsIndicesOfItsPlaces) {
  const auto said = [](const std::vector<Shape>& shapes, Shape shape, ElementType indices = ElementType::int64) {
    std::vector<TensorType> inputs = floats(shapes);
    inputs[1].format.element = indices;
    const auto graph = single(Op::MaxPoolGrad, inputs, {{Attr::shape, std::move(shape)}});
    return graph ? "" : graph.error().message;
  };
  const Shape places = {1, 2, 3, 3};
  EXPECT_EQ(said({places, places}, {1, 2, 8, 8}), "");
  EXPECT_THAT(said({places, {1, 2, 3, 2}}, {1, 2, 8, 8}), HasSubstr("cannot be spread over 1x2x8x8"));
  EXPECT_THAT(said({places, places}, {1, 3, 8, 8}), HasSubstr("cannot be spread over 1x3x8x8"));
  EXPECT_THAT(said({places, places}, {1, 2, 8}), HasSubstr("cannot be spread over 1x2x8"));
  EXPECT_THAT(said({places, places}, {1, 2, -8, 8}), HasSubstr("negative size"));
  EXPECT_THAT(said({places, places}, {1, 2, 8, 8}, ElementType::float32), HasSubstr("not integers"));
}

TEST(InferPool, IndicesAreIntegers) {
  const auto graph = single(Op::MaxPool, floats({{1, 2, 8, 8}}), valid(), 2);
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ((*graph)[graph->outputs[1]].type, (TensorType{{1, 2, 3, 3}, {.element = ElementType::int64}}));
}

}  // namespace
}  // namespace monet::test
