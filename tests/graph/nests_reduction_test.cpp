// Reductions: shapes, counts, and what is refused.
#include "support/nest_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;
using testing::HasSubstr;

Attributes over(Integers axes, std::int64_t keepdims) {
  return {{Attr::axes, std::move(axes)}, {Attr::keepdims, keepdims}};
}

Shape reduced_shape(Op op, Shape input, Attributes attributes) {
  const auto graph = single(op, floats({input}), std::move(attributes));
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  return graph ? (*graph)[graph->outputs[0]].type.shape : Shape{-1};
}

TEST(InferReduction, KeepsOrDropsAxes) {
  EXPECT_EQ(reduced_shape(Op::ReduceSum, {2, 3, 4}, over({0, 2}, 1)), (Shape{1, 3, 1}));
  EXPECT_EQ(reduced_shape(Op::ReduceSum, {2, 3, 4}, over({0, 2}, 0)), (Shape{3}));
  EXPECT_EQ(reduced_shape(Op::ReduceSum, {2, 3, 4}, over({0, 1, 2}, 0)), Shape{});
  EXPECT_EQ(reduced_shape(Op::ReduceSum, {}, over({}, 0)), Shape{});
  EXPECT_EQ(reduced_shape(Op::ReduceL2, {2, 3}, over({}, 1)), (Shape{2, 3}));
}

TEST(InferReduction, RefusesAxesThatAreNotThere) {
  EXPECT_THAT(complaint(Op::ReduceSum, floats({{2, 3}}), over({2}, 1)), HasSubstr("has axis 2"));
  EXPECT_THAT(complaint(Op::ReduceSum, floats({{2, 3}}), over({-1}, 1)), HasSubstr("has axis -1"));
  EXPECT_THAT(complaint(Op::ReduceSum, floats({{2, 3}}), over({0, 0}, 1)), HasSubstr("not ascending"));
  EXPECT_THAT(complaint(Op::Hardmax, floats({{}}), over({0}, 1)), HasSubstr("scalar"));
  EXPECT_THAT(complaint(Op::ArgMax, floats({{2}}), {{Attr::axis, std::int64_t{1}}, {Attr::keepdims, std::int64_t{1}}}),
              HasSubstr("axis 1"));
  EXPECT_THAT(complaint(Op::TopK, floats({{4}}), {{Attr::axis, std::int64_t{0}}, {Attr::k, std::int64_t{5}}}),
              HasSubstr("picks 5 elements of 4"));
}

TEST(ReductionNests, CountsFollowTheDefinitions) {
  using enum Count;
  // 4 rows of 10: n operations on each element, m on each result.
  const auto expect = [](Op op, Counts expected) {
    for (std::int64_t keepdims : {0, 1}) {
      const auto [text, counts] = checked(op, floats({{4, 10}}), over({1}, keepdims));
      EXPECT_EQ(text, "") << name_of(op);
      EXPECT_EQ(counts, expected) << name_of(op);
    }
  };
  expect(Op::ReduceL1, counts_of({{compare, 40}, {add, 40}}));
  expect(Op::ReduceL2, counts_of({{multiply, 40}, {add, 40}, {sqrt, 4}}));
  expect(Op::ReduceLogSum, counts_of({{add, 40}, {log, 4}}));
  expect(Op::ReduceLogSumExp, counts_of({{compare, 40}, {add, 84}, {exp, 40}, {log, 4}}));
  expect(Op::ReduceMax, counts_of({{compare, 40}}));
  expect(Op::ReduceMin, counts_of({{compare, 40}}));
  expect(Op::ReduceMean, counts_of({{add, 40}, {multiply, 4}}));
  expect(Op::ReduceProd, counts_of({{multiply, 40}}));
  expect(Op::ReduceSum, counts_of({{add, 40}}));
  expect(Op::ReduceSumSquare, counts_of({{multiply, 40}, {add, 40}}));
}

TEST(ReductionNests, OthersWorkAlongOneAxis) {
  const Attributes axis = {{Attr::axis, std::int64_t{1}},      {Attr::keepdims, std::int64_t{0}},
                           {Attr::exclusive, std::int64_t{0}}, {Attr::reverse, std::int64_t{1}},
                           {Attr::k, std::int64_t{3}},         {Attr::axes, Integers{1}}};
  const auto expect = [&](Op op, Counts expected, std::size_t outputs = 1) {
    const auto [text, counts] = checked(op, floats({{4, 10}}), axis, outputs);
    EXPECT_EQ(text, "") << name_of(op);
    EXPECT_EQ(counts, expected) << name_of(op);
  };
  expect(Op::ArgMax, counts_of({{Count::compare, 40}}));
  expect(Op::CumSum, counts_of({{Count::add, 40}}));
  expect(Op::TopK, counts_of({{Count::compare, 2 * 40}}), 2);  // log2(3 + 1)
  expect(Op::Hardmax, counts_of({{Count::compare, 2 * 40}}));
}

}  // namespace
}  // namespace monet::test
