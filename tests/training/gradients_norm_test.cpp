// Does every rule for normalizations agree with central differences, and read no more than it needs?
#include "support/expect_error.h"
#include "support/nest_check.h"
#include "training/expect_gradient.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;

Attributes attributes(std::vector<std::pair<Attr, std::int64_t>> integers = {}, double epsilon = 1e-2) {
  Attributes result = {{Attr::epsilon, epsilon}, {Attr::momentum, 0.9}};
  for (const auto& [key, value] : integers) result.set(key, value);
  return result;
}

void expect_norm_gradient(Op op, const std::vector<Shape>& shapes, const Attributes& given, Given values = {}) {
  expect_gradient(op, floats(shapes), given, std::move(values));
}

// The operators of the backward part when only these inputs are trained; the gradients are checked as well.
std::vector<Op> backward(Op op, const std::vector<Shape>& shapes, const Attributes& given,
                         const std::vector<std::size_t>& trained) {
  GraphBuilder builder("norm");
  std::vector<TensorId> ids;
  Values values;
  for (const Shape& shape : shapes) {
    ids.push_back(builder.input("input" + std::to_string(ids.size()), shape));
    Array array = random_array(shape, static_cast<unsigned>(ids.size()));
    if (ids.size() == 5) std::ranges::transform(array.values, array.values.begin(), [](double x) { return x * x; });
    values.emplace(ids.back(), std::move(array));
  }
  builder.output(builder.add(op, "norm", ids, given));
  std::vector<TensorId> wanted;
  for (std::size_t i : trained) wanted.push_back(ids[i]);
  const auto checked = check_gradients(*builder.finish(), values, wanted);
  EXPECT_TRUE(checked.has_value()) << checked.error().text();
  if (!checked) return {};
  EXPECT_LE(checked->worst(), 1e-6);
  std::vector<Op> ops;
  for (const Node& node : checked->step.nodes()) {
    if (node.phase == Phase::backward) ops.push_back(node.op);
  }
  return ops;
}

TEST(NormGradients, OfBatchNormalizationInTraining) {
  for (const Shape& shape : {Shape{5, 3}, Shape{3, 2, 4}, Shape{2, 3, 2, 3}, Shape{2, 2, 2, 2, 2}}) {
    const Shape channels = {shape[1]};
    expect_norm_gradient(Op::BatchNormalization, {shape, channels, channels, channels, channels},
                         attributes({{Attr::training_mode, 1}}));
  }
}

TEST(NormGradients, OfBatchNormalizationWithConstantStatistics) {
  const Array variance{{3}, {0.5, 1.25, 2}};
  for (const Shape& shape : {Shape{4, 3}, Shape{2, 3, 2, 3}}) {
    expect_norm_gradient(Op::BatchNormalization, {shape, {3}, {3}, {3}, {3}}, attributes({{Attr::training_mode, 0}}),
                         {{4, variance}});
  }
}

TEST(NormGradients, OfLayerNormalization) {
  for (std::int64_t axis : {0, 1, 2}) {
    expect_norm_gradient(Op::LayerNormalization, {{2, 3, 4}, {4}, {4}}, attributes({{Attr::axis, axis}}));
  }
  // Any scale and bias that broadcast to the input.
  expect_norm_gradient(Op::LayerNormalization, {{2, 3, 4}, {3, 4}}, attributes({{Attr::axis, 1}}));
  expect_norm_gradient(Op::LayerNormalization, {{2, 3, 4}, {}, {2, 1, 4}}, attributes({{Attr::axis, 1}}));
  expect_norm_gradient(Op::LayerNormalization, {{2, 3, 4}, {2, 3, 1}, {3, 1}}, attributes({{Attr::axis, 2}}));
  expect_norm_gradient(Op::LayerNormalization, {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}}, attributes({{Attr::axis, 0}}));
  expect_norm_gradient(Op::LayerNormalization, {{2, 3, 4}, {4}, {4}}, attributes({{Attr::axis, 2}}, 0.0));
}

TEST(NormGradients, OfRootMeanSquareNormalization) {
  for (std::int64_t axis : {0, 1, 2}) {
    for (const Shape& scale : {Shape{4}, Shape{3, 4}, Shape{}, Shape{2, 1, 4}}) {
      expect_norm_gradient(Op::RMSNormalization, {{2, 3, 4}, scale}, attributes({{Attr::axis, axis}}));
    }
  }
}

TEST(NormGradients, OfGroupsAndInstances) {
  for (std::int64_t groups : {1, 2, 4}) {
    for (const Shape& shape : {Shape{2, 4, 3}, Shape{2, 4, 2, 3}}) {
      expect_norm_gradient(Op::GroupNormalization, {shape, {4}, {4}}, attributes({{Attr::num_groups, groups}}));
    }
  }
  expect_norm_gradient(Op::GroupNormalization, {{3, 6}, {6}, {6}}, attributes({{Attr::num_groups, 2}}));
  for (const Shape& shape : {Shape{2, 3, 4}, Shape{1, 3, 2, 3}}) {
    expect_norm_gradient(Op::InstanceNormalization, {shape, {3}, {3}}, attributes());
  }
}

TEST(NormGradients, OfLengthsAndDeviations) {
  for (std::int64_t p : {1, 2}) {
    for (std::int64_t axis : {0, 1, 2}) {
      expect_norm_gradient(Op::LpNormalization, {{2, 3, 4}}, attributes({{Attr::axis, axis}, {Attr::p, p}}));
    }
  }
  for (const Integers& axes : {Integers{0, 2, 3}, Integers{1}, Integers{0, 1, 2, 3}}) {
    expect_norm_gradient(Op::MeanVarianceNormalization, {{2, 3, 2, 3}}, {{Attr::axes, axes}});
  }
}

TEST(NormGradients, StayFiniteForRowsOfZeros) {
  for (const auto& [op, given] :
       std::vector<std::pair<Op, Attributes>>{{Op::LpNormalization, attributes({{Attr::axis, 1}, {Attr::p, 1}})},
                                              {Op::LpNormalization, attributes({{Attr::axis, 1}, {Attr::p, 2}})},
                                              {Op::MeanVarianceNormalization, {{Attr::axes, Integers{1}}}}}) {
    GraphBuilder builder("zeros");
    const TensorId x = builder.input("x", {2, 3});
    builder.output(builder.add(op, "norm", {x}, given));
    const auto checked = check_gradients(*builder.finish(), {{x, Array::zeros({2, 3})}}, {x});
    ASSERT_TRUE(checked.has_value()) << checked.error().text();
    for (double value : checked->values.at(checked->gradients[0]).values) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(NormGradients, OfLocalResponseNormalization) {
  for (std::int64_t size : {1, 2, 3, 4, 5, 9}) {
    for (const Shape& shape : {Shape{2, 4}, Shape{1, 5, 2}, Shape{2, 3, 2, 2}}) {
      expect_norm_gradient(Op::LRN, {shape},
                           {{Attr::alpha, 0.5}, {Attr::beta, 0.75}, {Attr::bias, 1.5}, {Attr::size, size}});
    }
  }
}

TEST(NormGradients, AreSumsWhenOnlyTheBiasIsTrained) {
  const std::vector<Shape> batch = {{2, 3, 4}, {3}, {3}, {3}, {3}};
  const std::vector<Op> sum = {Op::ReduceSum};
  EXPECT_EQ(backward(Op::BatchNormalization, batch, attributes({{Attr::training_mode, 1}}), {2}), sum);
  EXPECT_EQ(backward(Op::BatchNormalization, batch, attributes({{Attr::training_mode, 0}}), {2}), sum);
  EXPECT_EQ(backward(Op::LayerNormalization, {{2, 3, 4}, {4}, {4}}, attributes({{Attr::axis, 2}}), {2}), sum);
  EXPECT_EQ(backward(Op::GroupNormalization, {{2, 4, 3}, {4}, {4}}, attributes({{Attr::num_groups, 2}}), {2}), sum);
  EXPECT_EQ(backward(Op::InstanceNormalization, {{2, 3, 4}, {3}, {3}}, attributes(), {2}), sum);
}

TEST(NormGradients, OfParametersAreOnePass) {
  const std::vector<Shape> batch = {{2, 3, 4}, {3}, {3}, {3}, {3}};
  const Attributes training = attributes({{Attr::training_mode, 1}});
  const std::vector<Op> parameters = {Op::BatchNormalizationParameterGrad};
  EXPECT_EQ(backward(Op::BatchNormalization, batch, training, {1}), parameters);
  EXPECT_EQ(backward(Op::BatchNormalization, batch, training, {1, 2}), parameters);
  // The gradient of the input is made from those of the parameters, also where they are frozen.
  const std::vector<Op> all = {Op::BatchNormalizationParameterGrad, Op::BatchNormalizationGrad};
  EXPECT_EQ(backward(Op::BatchNormalization, batch, training, {0}), all);
  EXPECT_EQ(backward(Op::BatchNormalization, batch, training, {0, 1, 2}), all);
  EXPECT_EQ(backward(Op::LayerNormalization, {{2, 3, 4}, {4}, {4}}, attributes({{Attr::axis, 2}}), {0, 1, 2}),
            (std::vector<Op>{Op::LayerNormalizationGrad, Op::LayerNormalizationParameterGrad}));
  EXPECT_EQ(backward(Op::InstanceNormalization, {{2, 3, 4}, {3}, {3}}, attributes(), {1, 2}),
            (std::vector<Op>{Op::GroupNormalizationParameterGrad}));
  EXPECT_EQ(backward(Op::RMSNormalization, {{2, 3, 4}, {4}}, attributes({{Attr::axis, 2}}), {0}),
            (std::vector<Op>{Op::RMSNormalizationGrad}));
}

TEST(NormGradients, OfStatisticsAreRefused) {
  for (const auto& [op, shapes, given, outputs] :
       std::vector<std::tuple<Op, std::vector<Shape>, Attributes, std::size_t>>{
           {Op::LayerNormalization, {{2, 3, 4}, {4}}, attributes({{Attr::axis, 2}}), 3},
           {Op::RMSNormalization, {{2, 3, 4}, {4}}, attributes({{Attr::axis, 2}}), 2},
           {Op::InstanceNormalization, {{2, 3, 4}, {3}, {3}}, attributes(), 2},
           {Op::BatchNormalization, {{2, 3, 4}, {3}, {3}, {3}, {3}}, attributes({{Attr::training_mode, 1}}), 3}}) {
    const auto error = operator_gradient_error(op, floats(shapes), given, outputs);
    ASSERT_FALSE(error.has_value());
    expect_error(error.error(), {"a gradient arrives at a statistic"}, "node 'node'");
  }
}

}  // namespace
}  // namespace monet::test
