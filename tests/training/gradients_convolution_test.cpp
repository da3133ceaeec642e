// Does every rule for convolutions agree with central differences, and cost what the forward operator costs?
#include "support/gradient_check.h"
#include "support/nest_check.h"
#include "support/operator_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;
using testing::Each;
using testing::ElementsAre;
using training::ConvGradient;

struct Convolution {
  Op op = Op::Conv;
  std::vector<Shape> shapes;  // X, W and maybe a bias
  Integers strides, dilations, pads, output_padding;
  std::int64_t group = 1;

  Attributes attributes() const {
    Attributes result = {
        {Attr::strides, strides}, {Attr::dilations, dilations}, {Attr::pads, pads}, {Attr::group, group}};
    if (op == Op::ConvTranspose) result.set(Attr::output_padding, output_padding);
    return result;
  }
  std::string text() const {
    std::string all(name_of(op));
    for (const Shape& shape : shapes) all += " " + to_string(shape);
    for (const Integers& list : {strides, dilations, pads, output_padding}) all += " | " + to_string(list);
    return all + " | " + std::to_string(group);
  }
};

Shape joined(Shape front, const Integers& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

Convolution draw(std::mt19937& random, Op op, std::size_t spatial) {
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto list = [&](std::size_t count, std::int64_t low, std::int64_t high) {
    Integers values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(between(low, high));
    return values;
  };
  Convolution result{.op = op};
  result.group = between(1, 3);
  const std::int64_t inputs = result.group * between(1, 2);
  const std::int64_t outputs = result.group * between(1, 2);
  result.strides = list(spatial, 1, 3);
  result.dilations = list(spatial, 1, 2);
  // A transposed convolution of few elements has nothing left when its padding is wide.
  result.pads = list(2 * spatial, 0, op == Op::Conv ? 2 : 1);
  result.output_padding = list(spatial, 0, 2);
  const Integers kernel = list(spatial, 1, 3);
  const Integers size =
      op == Op::Conv ? list(spatial, 5, spatial == 3 ? 5 : 7) : list(spatial, 3, spatial == 3 ? 3 : 4);
  result.shapes = {joined({2, inputs}, size)};
  result.shapes.push_back(op == Op::Conv ? joined({outputs, inputs / result.group}, kernel)
                                         : joined({inputs, outputs / result.group}, kernel));
  if (between(0, 1) == 1) result.shapes.push_back({outputs});
  return result;
}

void expect_convolution_gradient(const Convolution& each) {
  SCOPED_TRACE(each.text());
  for (ConvGradient form : {ConvGradient::direct, ConvGradient::im2col}) {
    const auto error =
        operator_gradient_error(each.op, floats(each.shapes), each.attributes(), 1, {}, {.conv_gradient = form});
    ASSERT_TRUE(error.has_value()) << error.error().text();
    EXPECT_LE(*error, 1e-6);
  }
}

void expect_costs(const Convolution& each) {
  SCOPED_TRACE(each.text());
  for (ConvGradient form : {ConvGradient::direct, ConvGradient::im2col}) {
    const auto step = operator_step(each.op, floats(each.shapes), each.attributes(), {0, 1}, form);
    ASSERT_TRUE(step.has_value()) << step.error().text();
    const std::vector<std::int64_t> forward = step->macs(Phase::forward);
    ASSERT_EQ(forward.size(), 1u);
    EXPECT_EQ(step->macs(Phase::backward), Integers({forward[0], forward[0]}));
  }
}

TEST(ConvolutionGradients, OfRandomConvolutions) {
  std::mt19937 random(11);
  for (std::size_t spatial : {1u, 1u, 1u, 2u, 2u, 2u, 2u, 2u, 2u, 3u, 3u}) {
    const Convolution each = draw(random, Op::Conv, spatial);
    expect_convolution_gradient(each);
    expect_costs(each);
  }
}

TEST(ConvolutionGradients, OfRandomTransposedConvolutions) {
  std::mt19937 random(12);
  for (std::size_t spatial : {1u, 1u, 1u, 2u, 2u, 2u, 2u, 2u, 2u, 3u, 3u}) {
    Convolution each = draw(random, Op::ConvTranspose, spatial);
    expect_convolution_gradient(each);  // also where the output is padded by a stride and more
    for (std::size_t i = 0; i < spatial; ++i)
      each.output_padding[i] = std::min(each.output_padding[i], each.strides[i] - 1);
    expect_costs(each);
  }
}

TEST(ConvolutionGradients, OfKindsThatNetworksHave) {
  const Integers two(2, 2), one(2, 1), none(4, 0), around(4, 1);
  expect_convolution_gradient(
      {.shapes = {{2, 3, 5, 5}, {4, 3, 3, 3}, {4}}, .strides = one, .dilations = one, .pads = around});
  expect_convolution_gradient(
      {.shapes = {{2, 3, 6, 7}, {4, 3, 3, 3}}, .strides = two, .dilations = one, .pads = around});
  expect_convolution_gradient(
      {.shapes = {{2, 3, 6, 6}, {2, 3, 1, 1}}, .strides = two, .dilations = one, .pads = none});  // shortcut
  expect_convolution_gradient(
      {.shapes = {{2, 4, 5, 5}, {4, 1, 3, 3}}, .strides = one, .dilations = one, .pads = around, .group = 4});
  expect_convolution_gradient(
      {.shapes = {{2, 2, 6, 6}, {4, 1, 3, 3}}, .strides = two, .dilations = one, .pads = {1, 0, 0, 1}, .group = 2});
  expect_convolution_gradient(
      {.shapes = {{1, 2, 9, 9}, {2, 2, 3, 3}}, .strides = one, .dilations = two, .pads = {2, 2, 2, 2}});
  expect_convolution_gradient(
      {.shapes = {{2, 3, 8, 8}, {4, 3, 4, 4}, {4}}, .strides = {4, 4}, .dilations = one, .pads = none});
}

TEST(ConvolutionGradients, DirectAndUnfoldedAreEqual) {
  std::mt19937 random(13);
  for (int i = 0; i < 30; ++i) {
    const Convolution each =
        draw(random, i % 2 == 0 ? Op::Conv : Op::ConvTranspose, 1 + static_cast<std::size_t>(i % 3));
    SCOPED_TRACE(each.text());
    std::vector<Array> weights;
    for (ConvGradient form : {ConvGradient::direct, ConvGradient::im2col}) {
      const auto step = operator_step(each.op, floats(each.shapes), each.attributes(), {1}, form);
      ASSERT_TRUE(step.has_value()) << step.error().text();
      EXPECT_EQ(step->count(Op::ConvWeightGrad), form == ConvGradient::direct ? 1 : 0);
      Values values;
      for (std::size_t k = 0; k < step->inputs.size(); ++k) {
        values.emplace(step->inputs[k], random_array(each.shapes[k], static_cast<unsigned>(k)));
      }
      const Status status = run(step->graph, values);
      ASSERT_TRUE(status.has_value()) << status.error().text();
      weights.push_back(values.at(step->gradients[0]));
    }
    ASSERT_EQ(weights[0].shape, weights[1].shape);
    for (std::size_t k = 0; k < weights[0].values.size(); ++k) {
      EXPECT_NEAR(weights[0].values[k], weights[1].values[k], 1e-12);
    }
  }
}

TEST(ConvolutionGradients, NothingThatIsNotNeeded) {
  const Convolution each{
      .shapes = {{2, 3, 5, 5}, {4, 3, 3, 3}, {4}}, .strides = {1, 1}, .dilations = {1, 1}, .pads = Integers(4, 0)};
  const auto nodes = [&](std::vector<std::size_t> wanted) {
    const auto step = operator_step(each.op, floats(each.shapes), each.attributes(), wanted);
    EXPECT_TRUE(step.has_value());
    return std::vector<std::int64_t>{step->count(Op::ConvTranspose), step->count(Op::ConvWeightGrad),
                                     step->count(Op::ReduceSum)};
  };
  EXPECT_THAT(nodes({0}), ElementsAre(1, 0, 0));
  EXPECT_THAT(nodes({1}), ElementsAre(0, 1, 0));
  EXPECT_THAT(nodes({2}), ElementsAre(0, 0, 1));
  EXPECT_THAT(nodes({0, 1, 2}), Each(1));
}

}  // namespace
}  // namespace monet::test
