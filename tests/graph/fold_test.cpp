// Does folding give what running gives, and nothing where it cannot?
#include "graph/fold.h"

#include "graph/folded.h"
#include "graph/infer.h"
#include "interpret/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace monet {
namespace {

using Integers = std::vector<std::int64_t>;
using Pattern = Constant::Pattern;
using test::folded;
using enum ElementType;

std::vector<Array> run_on_constants(Op op, const Attributes& attributes, const std::vector<Constant>& inputs) {
  std::vector<TensorType> types;
  std::vector<Array> arrays;
  for (const Constant& input : inputs) {
    types.push_back({input.shape, {.element = input.type}});
    arrays.push_back(to_array(input));
  }
  std::vector<const TensorType*> input_types;
  std::vector<const Array*> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    input_types.push_back(&types[i]);
    values.push_back(&arrays[i]);
  }
  const auto outputs = infer({.op = op, .attributes = attributes, .inputs = input_types});
  std::vector<const TensorType*> output_types;
  for (const TensorType& type : *outputs) output_types.push_back(&type);
  auto results = execute({op, attributes, values, input_types, output_types});
  EXPECT_TRUE(results.has_value());
  return results ? *std::move(results) : std::vector<Array>{};
}

void expect_folds_as_run(Op op, const Attributes& attributes, const std::vector<Constant>& inputs) {
  SCOPED_TRACE(std::string(name_of(op)));
  const auto constants = folded(op, attributes, inputs);
  ASSERT_TRUE(constants.has_value());
  const auto arrays = run_on_constants(op, attributes, inputs);
  ASSERT_EQ(constants->size(), arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Array actual = to_array((*constants)[i]);
    ASSERT_EQ(actual.shape, arrays[i].shape);
    // Folding rounds to single precision, running does not.
    const double tolerance = (*constants)[i].type == float32 ? 1e-5 : 1e-12;
    for (std::size_t k = 0; k < actual.values.size(); ++k)
      ASSERT_NEAR(actual.values[k], arrays[i].values[k], tolerance * std::max(1.0, std::abs(arrays[i].values[k])));
  }
}

class Source {
 public:
  explicit Source(unsigned seed) : random_(seed) {}
  std::int64_t below(std::int64_t limit) { return static_cast<std::int64_t>(random_() % static_cast<unsigned>(limit)); }
  Shape shape(std::size_t rank) {
    Shape result;
    for (std::size_t i = 0; i < rank; ++i) result.push_back(1 + below(4));
    return result;
  }
  Constant integers(Shape shape, std::int64_t low, std::int64_t high, ElementType type = int64) {
    Integers values;
    for (std::int64_t i = element_count(shape); i > 0; --i) values.push_back(low + below(high - low + 1));
    return Constant::integers(type, std::move(shape), std::move(values));
  }
  Constant reals(Shape shape, double low = -2, double high = 2) {
    std::vector<double> values;
    for (std::int64_t i = element_count(shape); i > 0; --i)
      values.push_back(low + (high - low) * static_cast<double>(below(1001)) / 1000);
    return Constant::reals(float32, std::move(shape), std::move(values));
  }
  // A shape that broadcasts against `full`.
  Shape narrower(const Shape& full) {
    Shape result(full.begin() + below(static_cast<std::int64_t>(full.size()) + 1), full.end());
    for (std::int64_t& size : result) size = below(3) == 0 ? 1 : size;
    return result;
  }

 private:
  std::mt19937 random_;
};

constexpr int rounds = 30;

TEST(Fold, BinaryOperatorsAreWhatRunningGives) {
  Source source(1);
  for (int round = 0; round < rounds; ++round) {
    const Shape full = source.shape(3);
    const Shape other = source.narrower(full);
    for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min, Op::Equal, Op::Greater, Op::GreaterOrEqual,
                        Op::Less, Op::LessOrEqual, Op::Sum}) {
      expect_folds_as_run(op, {}, {source.integers(full, -9, 9), source.integers(other, -9, 9)});
      expect_folds_as_run(op, {}, {source.reals(full), source.reals(other)});
    }
    for (const Op op : {Op::And, Op::Or, Op::Xor})
      expect_folds_as_run(op, {}, {source.integers(full, 0, 1, boolean), source.integers(other, 0, 1, boolean)});
    expect_folds_as_run(Op::Div, {}, {source.integers(full, -9, 9), source.integers(other, 1, 4)});
    expect_folds_as_run(Op::Div, {}, {source.integers(full, -9, 9), source.integers(other, -4, -1)});
    expect_folds_as_run(Op::Div, {}, {source.reals(full), source.reals(other, 1, 2)});
    expect_folds_as_run(Op::Pow, {}, {source.integers(full, -3, 3), source.integers(other, 0, 3)});
    expect_folds_as_run(Op::Pow, {}, {source.reals(full, 0.5, 2), source.reals(other)});
    for (const std::int64_t c_style : {0, 1}) {
      const Attributes attributes = {{Attr::fmod, c_style}};
      expect_folds_as_run(Op::Mod, attributes, {source.integers(full, -9, 9), source.integers(other, 1, 4)});
      expect_folds_as_run(Op::Mod, attributes, {source.integers(full, -9, 9), source.integers(other, -4, -1)});
    }
    expect_folds_as_run(Op::Where, {}, {source.integers(other, 0, 1, boolean), source.reals(full), source.reals({})});
  }
}

TEST(Fold, UnaryOperatorsAreWhatRunningGives) {
  Source source(2);
  for (int round = 0; round < rounds; ++round) {
    const Shape shape = source.shape(2);
    for (const Op op : {Op::Neg, Op::Abs, Op::Sign}) {
      expect_folds_as_run(op, {}, {source.integers(shape, -9, 9)});
      expect_folds_as_run(op, {}, {source.reals(shape)});
    }
    for (const Op op : {Op::Exp, Op::Floor, Op::Ceil, Op::Round, Op::IsNaN})
      expect_folds_as_run(op, {}, {source.reals(shape)});
    for (const Op op : {Op::Sqrt, Op::Log, Op::Reciprocal}) expect_folds_as_run(op, {}, {source.reals(shape, 0.5, 3)});
    expect_folds_as_run(Op::Not, {}, {source.integers(shape, 0, 1, boolean)});
    expect_folds_as_run(Op::Clip, {{Attr::min, -1.0}, {Attr::max, 0.5}}, {source.reals(shape)});
    expect_folds_as_run(Op::Cast, {{Attr::to, static_cast<std::int64_t>(int64)}}, {source.reals(shape)});
    expect_folds_as_run(Op::Cast, {{Attr::to, static_cast<std::int64_t>(boolean)}}, {source.integers(shape, -1, 1)});
    expect_folds_as_run(Op::Cast, {{Attr::to, static_cast<std::int64_t>(float64)}}, {source.integers(shape, -9, 9)});
  }
}

TEST(Fold, ViewsAndMovesAreWhatRunningGives) {
  Source source(3);
  for (int round = 0; round < rounds; ++round) {
    const Shape shape = source.shape(3);
    const std::int64_t axis = source.below(3);
    const auto at = static_cast<std::size_t>(axis);
    const Constant x = source.integers(shape, -9, 9);
    expect_folds_as_run(Op::Identity, {}, {x});
    expect_folds_as_run(Op::Reshape, {{Attr::shape, Integers{shape[2], shape[0] * shape[1]}}}, {x});
    expect_folds_as_run(Op::Transpose, {{Attr::perm, Integers{axis, (axis + 1) % 3, (axis + 2) % 3}}}, {x});
    expect_folds_as_run(Op::Expand, {{Attr::shape, Integers{2, shape[0], shape[1], shape[2]}}}, {x});
    expect_folds_as_run(Op::Tile, {{Attr::repeats, Integers{1 + source.below(3), 2, 1 + source.below(2)}}}, {x});
    Shape longer = shape;
    longer[at] += 1;
    expect_folds_as_run(Op::Concat, {{Attr::axis, axis}}, {x, source.integers(longer, -9, 9), x});
    expect_folds_as_run(Op::Split, {{Attr::axis, axis}, {Attr::split, Integers{1, longer[at] - 1}}},
                        {source.integers(longer, -9, 9)});
    expect_folds_as_run(Op::Gather, {{Attr::axis, axis}},
                        {x, source.integers(source.shape(2), -shape[at], shape[at] - 1)});
    expect_folds_as_run(Op::Gather, {{Attr::axis, axis}}, {x, source.integers({}, 0, shape[at] - 1)});
    for (const std::int64_t upper : {0, 1})
      expect_folds_as_run(Op::Trilu, {{Attr::upper, upper}, {Attr::k, source.below(5) - 2}}, {x});
    Shape sliced = shape;
    sliced[at] = (shape[at] + 1) / 2;
    expect_folds_as_run(
        Op::Slice,
        {{Attr::axes, Integers{axis}}, {Attr::starts, Integers{0}}, {Attr::steps, Integers{2}}, {Attr::shape, sliced}},
        {x});
    expect_folds_as_run(Op::Slice,
                        {{Attr::axes, Integers{axis}},
                         {Attr::starts, Integers{shape[at] - 1}},
                         {Attr::steps, Integers{-1}},
                         {Attr::shape, shape}},
                        {x});
  }
}

TEST(Fold, ReductionsAreWhatRunningGives) {
  Source source(4);
  for (int round = 0; round < rounds; ++round) {
    const Shape shape = source.shape(3);
    for (const Op op : {Op::ReduceSum, Op::ReduceProd, Op::ReduceMax, Op::ReduceMin}) {
      for (const Integers& axes : {Integers{0}, Integers{1}, Integers{0, 2}, Integers{0, 1, 2}}) {
        const Attributes attributes = {{Attr::axes, axes}, {Attr::keepdims, source.below(2)}};
        expect_folds_as_run(op, attributes, {source.integers(shape, -4, 4)});
        expect_folds_as_run(op, attributes, {source.reals(shape)});
      }
    }
  }
}

TEST(Fold, Ranges) {
  const Attributes attributes = {{Attr::shape, Integers{5}},
                                 {Attr::start, -3.0},
                                 {Attr::delta, 2.0},
                                 {Attr::to, static_cast<std::int64_t>(int64)}};
  const auto range = folded(Op::Range, attributes, {});
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(std::get<Integers>(range->front().values), (Integers{-3, -1, 1, 3, 5}));
}

TEST(Fold, OverflowIsNotFolded) {
  const auto one = [](ElementType type, std::int64_t value) { return Constant::integers(type, {1}, {value}); };
  EXPECT_FALSE(folded(Op::Add, {}, {one(int64, INT64_MAX), one(int64, 1)}));
  EXPECT_FALSE(folded(Op::Sub, {}, {one(int64, 0), one(int64, INT64_MIN)}));
  EXPECT_FALSE(folded(Op::Mul, {}, {one(int64, INT64_MAX), one(int64, 2)}));
  EXPECT_FALSE(folded(Op::Neg, {}, {one(int64, INT64_MIN)}));
  EXPECT_FALSE(folded(Op::Abs, {}, {one(int64, INT64_MIN)}));
  EXPECT_FALSE(folded(Op::Div, {}, {one(int64, INT64_MIN), one(int64, -1)}));
  EXPECT_FALSE(folded(Op::Div, {}, {one(int64, 1), one(int64, 0)}));
  EXPECT_FALSE(folded(Op::Mod, {}, {one(int64, 1), one(int64, 0)}));
  EXPECT_FALSE(folded(Op::Pow, {}, {one(int64, 10), one(int64, 30)}));
  EXPECT_FALSE(folded(Op::ReduceProd, {{Attr::axes, Integers{0}}, {Attr::keepdims, std::int64_t{0}}},
                      {Constant::integers(int64, {3}, {INT64_MAX, 2, 2})}));
  // Of narrow types too: the number would wrap.
  EXPECT_FALSE(folded(Op::Add, {}, {one(int32, INT32_MAX), one(int32, 1)}));
  EXPECT_FALSE(folded(Op::Sub, {}, {one(uint8, 0), one(uint8, 1)}));
  EXPECT_FALSE(folded(Op::Mul, {}, {one(int8, 64), one(int8, 2)}));
  EXPECT_FALSE(folded(Op::Cast, {{Attr::to, static_cast<std::int64_t>(uint8)}}, {one(int64, 256)}));
  EXPECT_TRUE(folded(Op::Cast, {{Attr::to, static_cast<std::int64_t>(uint8)}}, {one(int64, 255)}));
  EXPECT_FALSE(
      folded(Op::Cast, {{Attr::to, static_cast<std::int64_t>(int64)}}, {Constant::reals(float32, {2}, {1e30, NAN})}));
}

TEST(Fold, IndicesOutsideAreNotFolded) {
  const Constant x = Constant::integers(int64, {3}, {1, 2, 3});
  for (const std::int64_t index : {std::int64_t{3}, std::int64_t{-4}, INT64_MIN, INT64_MAX})
    EXPECT_FALSE(folded(Op::Gather, {{Attr::axis, std::int64_t{0}}}, {x, Constant::integers(int64, {1}, {index})}));
}

TEST(Fold, LargeDenseResultsAreNotMade) {
  const Constant row = Constant::integers(int64, {1, 300}, Integers(300, 1));
  const Constant column = Constant::integers(int64, {300, 1}, Integers(300, 1));
  EXPECT_FALSE(folded(Op::Add, {}, {row, column}));
  EXPECT_FALSE(folded(Op::Expand, {{Attr::shape, Integers{300, 300}}}, {row}));
  EXPECT_FALSE(folded(Op::Concat, {{Attr::axis, std::int64_t{0}}}, std::vector<Constant>(300, row)));
}

TEST(Fold, ResultsHaveThePrecisionOfTheirType) {
  // In single precision 10 * 0.7 is 7; in double precision 0.7f is less than 0.7, and the floor would be 6.
  const auto product = [](ElementType type) {
    const double factor = static_cast<double>(0.7F);
    return folded(Op::Mul, {}, {Constant::reals(type, {1}, {10}), Constant::reals(type, {1}, {factor})})->front();
  };
  EXPECT_EQ(folded(Op::Floor, {}, {product(float32)})->front().real_at(0), 7);
  EXPECT_EQ(folded(Op::Floor, {}, {product(float64)})->front().real_at(0), 6);
}

TEST(Constants, RealsAsIntegers) {
  const double huge = 1e300;
  const Constant reals = Constant::reals(float32, {5}, {-2.9, huge, -huge, NAN, 0x1p62});
  EXPECT_EQ(reals.integer_at(0), -2);
  EXPECT_EQ(reals.integer_at(1), INT64_MAX);
  EXPECT_EQ(reals.integer_at(2), INT64_MIN);
  EXPECT_EQ(reals.integer_at(3), 0);
  EXPECT_EQ(reals.integer_at(4), std::int64_t{1} << 62);
}

TEST(Fold, RandomOperatorsAreNotFolded) {
  EXPECT_FALSE(folded(Op::Bernoulli, {{Attr::to, static_cast<std::int64_t>(float32)}}, {Source(5).reals({2})}));
}

}  // namespace
}  // namespace monet
