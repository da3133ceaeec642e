// Are derivatives what PyTorch has where they jump, where several values tie, and far from zero?
//
// Expected values: x = torch.tensor(…, dtype=torch.float64, requires_grad=True), then the expression named at each
// case, .sum().backward(), x.grad; PyTorch 2.15.
#include "support/backward_of.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;

// Equal up to rounding, relative to each value; values that underflow are 0.
void expect_slopes(Op op, const Attributes& attributes, const Array& x, const std::vector<double>& expected,
                   double tolerance = 1e-12) {
  SCOPED_TRACE(std::string(name_of(op)));
  const std::vector<Array> slopes = slopes_of(op, {x}, attributes);
  ASSERT_EQ(slopes.size(), 1);
  ASSERT_EQ(slopes[0].values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(slopes[0].values[i], expected[i], tolerance * std::abs(expected[i]) + 1e-300) << "element " << i;
  }
}

Array row(std::vector<double> values) { return {{static_cast<std::int64_t>(values.size())}, std::move(values)}; }

TEST(Kinks, OfActivations) {
  expect_slopes(Op::Relu, {}, row({-1, 0, 1}), {0, 0, 1});                                  // F.relu(x)
  expect_slopes(Op::LeakyRelu, {{Attr::alpha, 0.1}}, row({-1, 0, 1}), {0.1, 0.1, 1});       // F.leaky_relu(x, 0.1)
  expect_slopes(Op::Abs, {}, row({-2, 0, 2}), {-1, 0, 1});                                  // x.abs()
  expect_slopes(Op::ThresholdedRelu, {{Attr::alpha, 1.0}}, row({0.5, 1, 1.5}), {0, 0, 1});  // F.threshold(x, 1, 0)
  expect_slopes(Op::HardSwish, {}, row({-3.5, -3, -1, 3, 3.5}), {0, 0, 1.0 / 6, 1, 1});     // F.hardswish(x)
  // F.hardsigmoid(x), whose 1/6 has 32 bits.
  expect_slopes(Op::HardSigmoid, {{Attr::alpha, 1.0 / 6}, {Attr::beta, 0.5}}, row({-3, -1, 3, 3.5}),
                {0, 0.1666666716337204, 0, 0}, 1e-7);
  // F.hardshrink(x), F.softshrink(x)
  for (double bias : {0.0, 0.5}) {
    expect_slopes(Op::Shrink, {{Attr::lambd, 0.5}, {Attr::bias, bias}}, row({-0.5, 0, 0.5, 0.6}), {0, 0, 0, 1});
  }
  expect_slopes(Op::Elu, {{Attr::alpha, 0.7}}, row({-50, -1, 0, 50}),  // F.elu(x, 0.7)
                {1.3501248935747425e-22, 0.2575156088200096, 0.7, 1});
  // F.celu(x, 0.7), whose 1/0.7 has 32 bits.
  expect_slopes(Op::Celu, {{Attr::alpha, 0.7}}, row({-50, -1, 0, 50}),
                {9.527195068483825e-32, 0.23965103469267596, 1.0000000170298988, 1}, 1e-5);
  expect_slopes(Op::Selu, {{Attr::alpha, 1.6732632423543772}, {Attr::gamma, 1.0507009873554805}},
                row({-50, -1, 0, 50}),  // F.selu(x)
                {3.3909338363648417e-22, 0.646768603034814, 1.7580993408473766, 1.0507009873554805});
}

TEST(Kinks, OfClip) {
  const Array x = row({-1.5, -1, 0, 2, 2.5});
  expect_slopes(Op::Clip, {{Attr::min, -1.0}, {Attr::max, 2.0}}, x, {0, 0, 1, 0, 0});  // x.clamp(-1, 2), F.hardtanh
  expect_slopes(Op::Clip, {{Attr::min, -1.0}}, x, {0, 0, 1, 1, 1});                    // x.clamp(min=-1)
  expect_slopes(Op::Clip, {{Attr::max, 2.0}}, x, {1, 1, 1, 0, 0});                     // x.clamp(max=2)
  expect_slopes(Op::Clip, {{Attr::min, 0.0}, {Attr::max, 6.0}}, row({-1, 0, 3, 6, 7}), {0, 0, 1, 0, 0});  // F.relu6(x)
}

TEST(Kinks, FarFromZero) {
  const Array x = row({-1000, -50, -1, 0, 1, 50, 1000});
  expect_slopes(Op::Silu, {}, x,  // F.silu(x)
                {0, -9.450874255023198e-21, 0.07232948812851325, 0.5, 0.9276705118714869, 1, 1});
  expect_slopes(Op::Mish, {}, x,  // F.mish(x)
                {0, -9.450874255023198e-21, 0.059216755877395014, 0.6, 1.0490362200997922, 1, 1});
  expect_slopes(Op::Softplus, {}, x,  // F.softplus(x)
                {0, 1.9287498479639178e-22, 0.2689414213699951, 0.5, 0.7310585786300049, 1, 1});
  expect_slopes(Op::Sigmoid, {}, x,  // torch.sigmoid(x)
                {0, 1.928749847963918e-22, 0.19661193324148185, 0.25, 0.19661193324148185, 0, 0});
  expect_slopes(Op::Tanh, {}, x,  // torch.tanh(x)
                {0, 0, 0.41997434161402614, 1, 0.41997434161402614, 0, 0});
  expect_slopes(Op::Gelu, {{Attr::approximate, std::string("none")}}, x,  // F.gelu(x)
                {0, 0, -0.08331547058768635, 0.5, 1.0833154705876864, 1, 1});
  expect_slopes(Op::Gelu, {{Attr::approximate, std::string("tanh")}}, x,  // F.gelu(x, approximate="tanh")
                {0, 0, -0.08296408384578252, 0.5, 1.0829640838457826, 1, 1});
}

TEST(Kinks, OfPRelu) {
  // F.prelu(x, w), w = 0.25: w.grad is -1
  const std::vector<Array> slopes = slopes_of(Op::PRelu, {row({-1, 0, 1}), row({0.25})}, {});
  ASSERT_EQ(slopes.size(), 2);
  EXPECT_EQ(slopes[0].values, (std::vector<double>{0.25, 0.25, 1}));
  EXPECT_EQ(slopes[1].values, (std::vector<double>{-1}));
}

TEST(Kinks, TiesOfSeveralInputs) {
  // torch.maximum(torch.maximum(a, b), c), and of the negated values torch.minimum
  const std::vector<std::vector<double>> expected = {{0.25, 0, 0.5}, {0.25, 0.5, 0}, {0.5, 0.5, 0.5}};
  for (double sign : {1.0, -1.0}) {
    const std::vector<Array> slopes = slopes_of(
        sign > 0 ? Op::Max : Op::Min,
        {row({sign, 2 * sign, 3 * sign}), row({sign, 3 * sign, 2 * sign}), row({sign, 3 * sign, 3 * sign})}, {});
    ASSERT_EQ(slopes.size(), 3);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(slopes[i].values, expected[i]);
  }
}

TEST(Kinks, OfPowersAtZero) {
  // torch.pow(a, b) with a = (0, 2, 3, 0, 2), b = (0, 2, -1, 2, 3)
  const std::vector<Array> slopes = slopes_of(Op::Pow, {row({0, 2, 3, 0, 2}), row({0, 2, -1, 2, 3})}, {});
  ASSERT_EQ(slopes.size(), 2);
  const std::vector<std::vector<double>> expected = {{0, 4, -1.0 / 9, 0, 12},
                                                     {0, 4 * std::log(2), std::log(3) / 3, 0, 8 * std::log(2)}};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(slopes[i].values[k], expected[i][k], 1e-12);
  }
}

TEST(Kinks, OfReductions) {
  const Attributes rows = {{Attr::axes, Integers{1}}, {Attr::keepdims, std::int64_t{0}}};
  constexpr double third = 1.0 / 3;
  expect_slopes(Op::ReduceMax, rows, {{3, 3}, {1, 3, 3, 2, 2, 2, 1, 0, -1}},  // x.amax(1)
                {0, 0.5, 0.5, third, third, third, 1, 0, 0});
  expect_slopes(Op::ReduceMin, rows, {{3, 3}, {-1, -3, -3, -2, -2, -2, -1, 0, 1}},  // x.amin(1)
                {0, 0.5, 0.5, third, third, third, 1, 0, 0});
  expect_slopes(Op::ReduceProd, rows, {{4, 3}, {2, 3, 4, 0, 3, 4, 0, 0, 4, 1e-200, 1e200, 0}},  // x.prod(1)
                {12, 8, 6, 12, 0, 0, 0, 0, 0, 0, 0, 1});
  expect_slopes(Op::ReduceL2, rows, {{2, 2}, {3, 4, 0, 0}}, {0.6, 0.8, 0, 0});  // torch.linalg.vector_norm(x, dim=1)
  expect_slopes(Op::ReduceL1, rows, {{2, 2}, {3, -4, 0, 0}}, {1, -1, 0, 0});    // torch.linalg.vector_norm(x, 1, dim=1)
  expect_slopes(Op::ReduceLogSumExp, rows, {{1, 2}, {1000, 999}},               // torch.logsumexp(x, 1)
                {0.7310585786300168, 0.2689414213699995});
}

}  // namespace
}  // namespace monet::test
