// Are products and convolutions the sums that they stand for, term by term in the order of the index?
#include "interpret/interpret.h"

#include <gtest/gtest.h>

#include <random>

namespace monet {
namespace {

using Integers = std::vector<std::int64_t>;

Array random_array(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Array array = Array::zeros(shape);
  for (double& value : array.values) value = normal(random);
  return array;
}

Array executed(Op op, const Attributes& attributes, const std::vector<const Array*>& inputs, const Shape& shape) {
  const TensorType any;
  const std::vector<const TensorType*> input_types(inputs.size(), &any);
  const TensorType output{.shape = shape, .format = {}};
  const TensorType* const outputs[] = {&output};
  auto results = execute({op, attributes, inputs, input_types, outputs});
  EXPECT_TRUE(results.has_value());
  return results ? (*results)[0] : Array{};
}

double at(const Array& array, const Shape& index) {
  return array.values[static_cast<std::size_t>(offset(array.shape, index))];
}

TEST(Products, OfMatricesSumInTheOrderOfTheIndex) {
  for (const std::int64_t inner : {1, 3, 4, 5, 11}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        const Array a = random_array(trans_a ? Shape{2, 1, inner, 3} : Shape{2, 1, 3, inner}, 1);
        const Array b = random_array(trans_b ? Shape{4, 5, inner} : Shape{4, inner, 5}, 2);
        const Array y = executed(
            Op::MatMul,
            {{Attr::trans_a, std::int64_t{trans_a}}, {Attr::trans_b, std::int64_t{trans_b}}, {Attr::alpha, 0.3}},
            {&a, &b}, {2, 4, 3, 5});
        for (IndexCounter i(y.shape); i.more(); i.next()) {
          double sum = 0;
          for (std::int64_t c = 0; c < inner; ++c) {
            sum += at(a, trans_a ? Shape{i[0], 0, c, i[2]} : Shape{i[0], 0, i[2], c}) *
                   at(b, trans_b ? Shape{i[1], i[3], c} : Shape{i[1], c, i[3]});
          }
          ASSERT_EQ(at(y, i.index()), 0.3 * sum);
        }
      }
    }
  }
}

struct Case {
  Integers kernel, strides, dilations, pads;  // pads: before and after
  std::int64_t group;
  Integers size;  // of the side with the window
};

const Case cases[] = {
    {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1, {6, 7}}, {{3, 2}, {2, 3}, {1, 1}, {0, 1, 2, 0}, 2, {7, 8}},
    {{2, 3}, {1, 2}, {2, 1}, {0, 0, 0, 0}, 2, {5, 9}}, {{5, 5}, {1, 1}, {2, 2}, {4, 4, 4, 4}, 1, {3, 3}},
    {{1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1, {5, 4}},
};

std::int64_t small_size(const Case& c, std::size_t axis) {
  return (c.size[axis] + c.pads[axis] + c.pads[axis + 2] - c.dilations[axis] * (c.kernel[axis] - 1) - 1) /
             c.strides[axis] +
         1;
}

Attributes attributes_of(const Case& c) {
  return {{Attr::strides, c.strides}, {Attr::dilations, c.dilations}, {Attr::pads, c.pads}, {Attr::group, c.group}};
}

constexpr std::int64_t batch = 2, channels = 4, filters = 6;

TEST(Products, OfConvolutionsSumChannelByChannelThenAlongTheKernel) {
  for (const Case& c : cases) {
    const Array x = random_array({batch, channels, c.size[0], c.size[1]}, 3);
    const Array w = random_array({filters, channels / c.group, c.kernel[0], c.kernel[1]}, 4);
    const Array bias = random_array({filters}, 5);
    const Array y =
        executed(Op::Conv, attributes_of(c), {&x, &w, &bias}, {batch, filters, small_size(c, 0), small_size(c, 1)});
    for (IndexCounter i(y.shape); i.more(); i.next()) {
      double sum = 0;
      for (IndexCounter f(Shape{channels / c.group, c.kernel[0], c.kernel[1]}); f.more(); f.next()) {
        const std::int64_t row = i[2] * c.strides[0] + f[1] * c.dilations[0] - c.pads[0];
        const std::int64_t column = i[3] * c.strides[1] + f[2] * c.dilations[1] - c.pads[1];
        if (row < 0 || row >= c.size[0] || column < 0 || column >= c.size[1]) continue;
        const std::int64_t channel = i[1] / (filters / c.group) * (channels / c.group) + f[0];
        sum += at(x, {i[0], channel, row, column}) * at(w, {i[1], f[0], f[1], f[2]});
      }
      ASSERT_EQ(at(y, i.index()), sum + bias.values[static_cast<std::size_t>(i[1])]);
    }
  }
}

TEST(Products, OfTransposedConvolutionsSumChannelByChannelThenPositionByPosition) {
  for (const Case& c : cases) {
    const Array x = random_array({batch, filters, small_size(c, 0), small_size(c, 1)}, 6);
    const Array w = random_array({filters, channels / c.group, c.kernel[0], c.kernel[1]}, 7);
    const Array y = executed(Op::ConvTranspose, attributes_of(c), {&x, &w}, {batch, channels, c.size[0], c.size[1]});
    Array expected = Array::zeros(y.shape);
    for (IndexCounter i(x.shape); i.more(); i.next()) {
      for (IndexCounter f(Shape{channels / c.group, c.kernel[0], c.kernel[1]}); f.more(); f.next()) {
        const std::int64_t row = i[2] * c.strides[0] + f[1] * c.dilations[0] - c.pads[0];
        const std::int64_t column = i[3] * c.strides[1] + f[2] * c.dilations[1] - c.pads[1];
        if (row < 0 || row >= c.size[0] || column < 0 || column >= c.size[1]) continue;
        const std::int64_t channel = i[1] / (filters / c.group) * (channels / c.group) + f[0];
        expected.values[static_cast<std::size_t>(offset(y.shape, Shape{i[0], channel, row, column}))] +=
            at(x, i.index()) * at(w, {i[1], f[0], f[1], f[2]});
      }
    }
    ASSERT_EQ(y.values, expected.values);
  }
}

}  // namespace
}  // namespace monet
