// Do fills and bands of any size stay a few bytes, and are they right element by element?
#include "graph/fold.h"

#include "graph/folded.h"
#include "interpret/interpret.h"

#include <gtest/gtest.h>

#include <random>

namespace monet {
namespace {

using Integers = std::vector<std::int64_t>;
using Pattern = Constant::Pattern;
using enum ElementType;

Constant uniform(ElementType type, Shape shape, double value) {
  Constant constant = is_floating(type)
                          ? Constant::reals(type, std::move(shape), {value})
                          : Constant::integers(type, std::move(shape), {static_cast<std::int64_t>(value)});
  constant.pattern = Pattern::uniform;
  return constant;
}

// The same written out.
Constant dense(const Constant& constant) {
  Constant result = constant;
  result.pattern = Pattern::dense;
  const std::int64_t count = element_count(constant.shape);
  if (is_floating(constant.type)) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(constant.real_at(i));
    result.values = std::move(values);
  } else {
    Integers values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(constant.integer_at(i));
    result.values = std::move(values);
  }
  return result;
}

std::optional<Constant> first_folded(Op op, const Attributes& attributes, const std::vector<Constant>& inputs) {
  const auto results = test::folded(op, attributes, inputs);
  if (!results) return std::nullopt;
  return results->front();
}

std::size_t stored(const Constant& constant) {
  return std::visit([](const auto& values) { return values.size(); }, constant.values);
}

// Folding the pattern gives what folding the written-out values gives.
void expect_like_dense(Op op, const Attributes& attributes, const std::vector<Constant>& inputs) {
  std::vector<Constant> written;
  for (const Constant& input : inputs) written.push_back(dense(input));
  const auto expected = first_folded(op, attributes, written);
  const auto actual = first_folded(op, attributes, inputs);
  ASSERT_TRUE(expected.has_value()) << name_of(op);
  if (!actual) return;  // not folded: it stays a node, and nothing is wrong
  ASSERT_EQ(actual->shape, expected->shape) << name_of(op);
  EXPECT_EQ(to_array(*actual).values, to_array(*expected).values) << name_of(op);
}

// Random fills and bands over 3x`rows`x`columns` or less.
Constant random_pattern(std::mt19937& random, const Shape& shape, ElementType type) {
  const auto value = [&] { return static_cast<double>(type == boolean ? random() % 2 : random() % 5); };
  Constant constant = uniform(type, shape, value());
  if (random() % 3 == 0 || shape.size() < 2) return constant;
  constant.pattern = Pattern::banded;
  constant.diagonal = static_cast<std::int64_t>(random() % 7) - 3;
  if (is_floating(type)) {
    constant.values = std::vector<double>{value(), value()};
  } else {
    constant.values = Integers{static_cast<std::int64_t>(value()), static_cast<std::int64_t>(value())};
  }
  return constant;
}

TEST(FoldPatterns, ElementByElementLikeDense) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const Shape shape = {1 + static_cast<std::int64_t>(random() % 4), 1 + static_cast<std::int64_t>(random() % 4)};
    const Shape leading = {2, shape[0], shape[1]};
    const Shape one_row = {1, shape[1]};
    const auto reals = [&](const Shape& s) { return random_pattern(random, s, float32); };
    const auto truths = [&](const Shape& s) { return random_pattern(random, s, boolean); };
    for (const Op op : {Op::Add, Op::Mul, Op::Equal, Op::Greater, Op::LessOrEqual, Op::Max}) {
      expect_like_dense(op, {}, {reals(shape), reals(shape)});
      expect_like_dense(op, {}, {reals(leading), reals(shape)});
      expect_like_dense(op, {}, {reals(shape), reals(one_row)});
      expect_like_dense(op, {}, {reals(shape), reals({})});
      expect_like_dense(op, {}, {reals(one_row), dense(reals(shape))});
    }
    expect_like_dense(Op::Where, {}, {truths(shape), reals(leading), reals({})});
    expect_like_dense(Op::Where, {}, {truths(one_row), reals(shape), reals(shape)});
    expect_like_dense(Op::Not, {}, {truths(leading)});
    expect_like_dense(Op::Cast, {{Attr::to, static_cast<std::int64_t>(int64)}}, {reals(shape)});
    const Constant x = reals(leading);
    expect_like_dense(Op::Identity, {}, {x});
    expect_like_dense(Op::Reshape, {{Attr::shape, Shape{1, 2, shape[0], shape[1]}}}, {x});
    expect_like_dense(Op::Reshape, {{Attr::shape, Shape{2 * shape[0], shape[1]}}}, {x});
    expect_like_dense(Op::Transpose, {{Attr::perm, Integers{0, 2, 1}}}, {x});
    expect_like_dense(Op::Expand, {{Attr::shape, Shape{3, 2, shape[0], shape[1]}}}, {x});
    expect_like_dense(Op::Expand, {{Attr::shape, Shape{4, shape[1]}}}, {reals(one_row)});
    expect_like_dense(Op::Tile, {{Attr::repeats, Integers{1, 2, 1}}}, {x});
    const Attributes gather = {{Attr::axis, std::int64_t{1}}};
    expect_like_dense(Op::Gather, gather, {x, Constant::integers(int64, {2}, {0, shape[0] - 1})});
    for (const std::int64_t upper : {0, 1}) {
      const Attributes triangle = {{Attr::upper, upper}, {Attr::k, static_cast<std::int64_t>(random() % 5) - 2}};
      expect_like_dense(Op::Trilu, triangle, {x});
    }
  }
}

TEST(FoldPatterns, SlicesOfBandsAreRightInEveryDirection) {
  Constant band = uniform(float32, {4, 4}, 0);
  band.pattern = Pattern::banded;
  band.values = std::vector<double>{0, 1};
  const auto slice = [](Integers axes, Integers starts, Integers steps, Shape shape) {
    return Attributes{{Attr::axes, axes}, {Attr::starts, starts}, {Attr::steps, steps}, {Attr::shape, shape}};
  };
  expect_like_dense(Op::Slice, slice({0, 1}, {0, 0}, {1, 1}, {4, 4}), {band});
  expect_like_dense(Op::Slice, slice({0}, {3}, {-1}, {4, 4}), {band});
  expect_like_dense(Op::Slice, slice({1}, {3}, {-1}, {4, 4}), {band});
  expect_like_dense(Op::Slice, slice({0, 1}, {1, 1}, {1, 1}, {3, 3}), {band});
  expect_like_dense(Op::Slice, slice({0}, {2}, {1}, {2, 4}), {band});
  expect_like_dense(Op::Slice, slice({1}, {0}, {2}, {4, 2}), {band});
}

TEST(FoldPatterns, OnlyWhatRearrangesAFillGivesAFill) {
  const Constant fill = uniform(float32, {3, 4}, 2);
  const Constant matrix = uniform(float32, {4, 3}, 2);
  EXPECT_FALSE(first_folded(Op::Softmax, {{Attr::axes, Integers{1}}}, {fill}).has_value());
  EXPECT_FALSE(first_folded(Op::MatMul, {}, {fill, matrix}).has_value());
  EXPECT_FALSE(
      first_folded(Op::Pad, {{Attr::pads, Integers{1, 0, 0, 0}}, {Attr::mode, std::string("constant")}}, {fill})
          .has_value());
  const Constant row = Constant::integers(int64, {1, 1}, {1});
  EXPECT_FALSE(
      first_folded(Op::ScatterND, {{Attr::reduction, std::string("none")}}, {fill, row, uniform(float32, {1, 4}, 1)})
          .has_value());
  const auto turned = first_folded(Op::Transpose, {{Attr::perm, Integers{1, 0}}}, {fill});
  ASSERT_TRUE(turned.has_value());
  EXPECT_EQ(turned->pattern, Pattern::uniform);
}

TEST(FoldPatterns, AHugeCausalMaskTakesAFewBytes) {
  const std::int64_t side = 100'000;
  const auto ones = uniform(boolean, {side, side}, 1);
  const auto lower = first_folded(Op::Trilu, {{Attr::upper, std::int64_t{0}}, {Attr::k, std::int64_t{0}}}, {ones});
  ASSERT_TRUE(lower.has_value());
  EXPECT_EQ(lower->pattern, Pattern::banded);
  const auto mask =
      first_folded(Op::Where, {}, {*lower, uniform(float32, {}, 0), Constant::reals(float32, {1}, {-1e9})});
  ASSERT_TRUE(mask.has_value());
  const auto expanded = first_folded(Op::Expand, {{Attr::shape, Shape{1, 1, side, side}}}, {*mask});
  ASSERT_TRUE(expanded.has_value());
  EXPECT_EQ(expanded->pattern, Pattern::banded);
  EXPECT_LE(stored(*expanded), 2);
  EXPECT_EQ(expanded->real_at(0), 0);
  EXPECT_EQ(expanded->real_at(1), -1e9);
  EXPECT_EQ(expanded->real_at(side), 0);
  EXPECT_EQ(expanded->real_at(side * side - 1), 0);
  EXPECT_EQ(expanded->real_at(side - 1), -1e9);
}

}  // namespace
}  // namespace monet
