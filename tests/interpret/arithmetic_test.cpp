// Does arithmetic in plain loops give what the general executor gives, bit by bit?
#include "interpret/interpret.h"
#include "support/infinity.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

namespace monet {
namespace {

using test::infinity;

constexpr double special[] = {0.0, -0.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), 1e-320};

Array with_special_values(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Array array = Array::zeros(shape);
  for (double& value : array.values)
    value = random() % 4 == 0 ? special[random() % std::size(special)] : normal(random);
  return array;
}

void expect_same(Op op, const std::vector<Shape>& shapes, const Shape& result, bool quick) {
  std::vector<Array> arrays;
  std::vector<const Array*> inputs;
  for (const Shape& shape : shapes)
    arrays.push_back(with_special_values(shape, static_cast<unsigned>(7 * arrays.size() + shape.size())));
  for (const Array& array : arrays) inputs.push_back(&array);
  std::vector<TensorType> types;
  for (const Shape& shape : shapes) types.push_back({.shape = shape, .format = {}});
  std::vector<const TensorType*> input_types;
  for (const TensorType& type : types) input_types.push_back(&type);
  const TensorType output{.shape = result, .format = {}};
  const TensorType* const outputs[] = {&output};
  const Attributes none;
  const Execution execution{op, none, inputs, input_types, outputs};
  const auto fast = execute_arithmetic(execution);
  ASSERT_EQ(fast.has_value(), quick) << name_of(op);
  if (!quick) return;
  const auto slow = execute_elementwise(execution);
  ASSERT_TRUE(slow.has_value());
  ASSERT_EQ(fast->shape, (*slow)[0].shape);
  for (std::size_t i = 0; i < fast->values.size(); ++i) {
    const double a = fast->values[i], b = (*slow)[0].values[i];
    // The sign of what is not a number is nobody's.
    if (std::isnan(a) && std::isnan(b)) continue;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)) << name_of(op) << " at " << i;
  }
}

TEST(Arithmetic, IsThatOfTheGeneralExecutor) {
  for (const Op op : {Op::Cast, Op::Neg, Op::Relu, Op::Sqrt}) {
    expect_same(op, {{3, 4, 5}}, {3, 4, 5}, true);
    expect_same(op, {{}}, {}, true);
  }
  for (const Op op : {Op::Add, Op::Sum, Op::Sub, Op::Mul, Op::Div, Op::ReluGrad}) {
    expect_same(op, {{3, 4, 5}, {3, 4, 5}}, {3, 4, 5}, true);
    expect_same(op, {{3, 4, 5}, {}}, {3, 4, 5}, true);
    expect_same(op, {{1, 1}, {3, 4, 5}}, {3, 4, 5}, true);
    expect_same(op, {{3, 4, 5}, {5}}, {3, 4, 5}, true);
    expect_same(op, {{1, 4, 5}, {3, 4, 5}}, {3, 4, 5}, true);
  }
}

TEST(Arithmetic, LeavesOtherBroadcastsToTheGeneralExecutor) {
  expect_same(Op::Add, {{3, 4, 5}, {4, 1}}, {3, 4, 5}, false);
  expect_same(Op::Add, {{3, 1}, {1, 5}}, {3, 5}, false);
  expect_same(Op::Tanh, {{3, 4}}, {3, 4}, false);
}

}  // namespace
}  // namespace monet
