// Are the gradient operators the derivatives of the operators they belong to?
#include "interpret/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace monet {
namespace {

using Integers = std::vector<std::int64_t>;

Array random(const Shape& shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Array array = Array::zeros(shape);
  for (double& value : array.values) value = normal(generator);
  return array;
}

Array evaluate(Op op, const Attributes& attributes, const std::vector<const Array*>& inputs, const Shape& output) {
  const std::vector<TensorType> types(inputs.size());
  std::vector<const TensorType*> input_types;
  for (const TensorType& type : types) input_types.push_back(&type);
  const TensorType output_type{output, {}};
  const std::vector<const TensorType*> output_types = {&output_type};
  auto results = execute({op, attributes, inputs, input_types, output_types});
  EXPECT_TRUE(results.has_value());
  return results ? (*results)[0] : Array{};
}

double product(const Array& a, const Array& b) {
  return std::inner_product(a.values.begin(), a.values.end(), b.values.begin(), 0.0);
}

TEST(GradientOperators, AveragePoolGradIsTheAdjointOfAveragePool) {
  for (std::int64_t include : {0, 1}) {
    Attributes attributes = {{Attr::kernel_shape, Integers{3, 2}},
                             {Attr::strides, Integers{2, 1}},
                             {Attr::dilations, Integers{1, 2}},
                             {Attr::pads, Integers{1, 0, 0, 1}},
                             {Attr::count_include_pad, include}};
    const Shape wide = {2, 2, 8, 6};
    const Shape narrow = {2, 2, 4, 5};
    const Array x = random(wide, 1);
    const Array gradient = random(narrow, 2);
    attributes.set(Attr::shape, narrow);
    const Array y = evaluate(Op::AveragePool, attributes, {&x}, narrow);
    attributes.set(Attr::shape, wide);
    const Array dx = evaluate(Op::AveragePoolGrad, attributes, {&gradient}, wide);
    EXPECT_NEAR(product(y, gradient), product(x, dx), 1e-10);
  }
}

TEST(Execute, GivesOneArrayForEachOutputAndNoneForTheUnwanted) {
  const Array x = random({1, 1, 4, 4}, 3);
  const Attributes attributes = {{Attr::kernel_shape, Integers{2, 2}}, {Attr::strides, Integers{2, 2}},
                                 {Attr::dilations, Integers{1, 1}},    {Attr::pads, Integers{0, 0, 0, 0}},
                                 {Attr::shape, Integers{1, 1, 2, 2}},  {Attr::storage_order, std::int64_t{0}}};
  const TensorType input{x.shape, {}};
  const TensorType output{{1, 1, 2, 2}, {}};
  const auto pooled = [&](const std::vector<const TensorType*>& outputs) {
    const std::vector<const Array*> inputs = {&x};
    const std::vector<const TensorType*> input_types = {&input};
    return *execute({Op::MaxPool, attributes, inputs, input_types, outputs});
  };
  EXPECT_EQ(pooled({&output}).size(), 1);
  const auto indices_only = pooled({nullptr, &output});
  ASSERT_EQ(indices_only.size(), 2);
  EXPECT_TRUE(indices_only[0].values.empty());
  EXPECT_EQ(indices_only[1].values.size(), 4);
}

TEST(Execute, InstancesOfNoChannels) {
  const Array x = Array::zeros({2, 0, 3});
  const Array none = Array::zeros({0});
  const Array y = evaluate(Op::InstanceNormalization, {{Attr::epsilon, 1e-5}}, {&x, &none, &none}, {2, 0, 3});
  EXPECT_EQ(y.shape, x.shape);
}

TEST(GradientOperators, LossGradIsTheSlopeOfTheLoss) {
  const Shape shape = {3, 4, 2};
  const Array labels{{3, 2}, {0, 3, 1, 2, 2, 1}};
  const Array weights{{4}, {0.5, 1.0, 1.5, 2.0}};
  for (const std::string reduction : {"mean", "sum", "none"}) {
    const Attributes attributes = {{Attr::reduction, reduction}, {Attr::ignore_index, std::int64_t{1}}};
    const Shape loss_shape = reduction == "none" ? labels.shape : Shape{};
    Array scores = random(shape, 3);
    const Array upstream = random(loss_shape, 4);
    const Array log_probability = evaluate(Op::LogSoftmax, {{Attr::axes, Integers{1}}}, {&scores}, shape);
    const Array slope =
        evaluate(Op::SoftmaxCrossEntropyLossGrad, attributes, {&upstream, &log_probability, &labels, &weights}, shape);
    const auto loss = [&] {
      return product(evaluate(Op::SoftmaxCrossEntropyLoss, attributes, {&scores, &labels, &weights}, loss_shape),
                     upstream);
    };
    for (std::size_t i = 0; i < scores.values.size(); ++i) {
      constexpr double step = 1e-5;
      const double middle = scores.values[i];
      scores.values[i] = middle + step;
      const double above = loss();
      scores.values[i] = middle - step;
      const double below = loss();
      scores.values[i] = middle;
      EXPECT_NEAR(slope.values[i], (above - below) / (2 * step), 1e-8) << reduction << " " << i;
    }
  }
}

}  // namespace
}  // namespace monet
