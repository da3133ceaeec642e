// Does every rule for reductions agree with central differences?
#include "support/backward_of.h"
#include "support/nest_check.h"
#include "training/expect_gradient.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;

void expect_reduction_gradient(Op op, const Shape& shape, const Attributes& attributes, std::size_t outputs = 1,
                               Given given = {}) {
  expect_gradient(op, floats({shape}), attributes, std::move(given), outputs);
}

TEST(ReductionGradients, OverAnyAxes) {
  const Shape shape = {2, 3, 4};
  for (const Integers& axes : {Integers{}, Integers{0}, Integers{1}, Integers{2}, Integers{0, 2}, Integers{0, 1, 2}}) {
    for (std::int64_t keepdims : {0, 1}) {
      const Attributes over = {{Attr::axes, axes}, {Attr::keepdims, keepdims}};
      for (Op op : {Op::ReduceL1, Op::ReduceL2, Op::ReduceLogSumExp, Op::ReduceMax, Op::ReduceMean, Op::ReduceMin,
                    Op::ReduceProd, Op::ReduceSum, Op::ReduceSumSquare}) {
        expect_reduction_gradient(op, shape, over);
      }
      expect_reduction_gradient(Op::ReduceLogSum, shape, over, 1, {{0, positive_array(shape)}});
    }
  }
  const Attributes none = {{Attr::axes, Integers{}}, {Attr::keepdims, std::int64_t{0}}};
  for (Op op : {Op::ReduceMean, Op::ReduceMax, Op::ReduceProd}) expect_reduction_gradient(op, {}, none);
}

TEST(ReductionGradients, OfRunningSums) {
  for (std::int64_t axis : {0, 1, 2}) {
    for (std::int64_t exclusive : {0, 1}) {
      for (std::int64_t reverse : {0, 1}) {
        expect_reduction_gradient(Op::CumSum, {2, 4, 3},
                                  {{Attr::axis, axis}, {Attr::exclusive, exclusive}, {Attr::reverse, reverse}});
      }
    }
  }
}

TEST(ReductionGradients, OfPickedValues) {
  for (std::int64_t axis : {0, 1}) {
    for (std::int64_t largest : {0, 1}) {
      for (std::size_t outputs : {1, 2}) {
        expect_reduction_gradient(
            Op::TopK, {4, 5},
            {{Attr::axis, axis}, {Attr::k, std::int64_t{3}}, {Attr::largest, largest}, {Attr::sorted, std::int64_t{1}}},
            outputs);
      }
    }
  }
}

TEST(ReductionGradients, AreZeroWhereOnlyTheChoiceDepends) {
  expect_reduction_gradient(Op::Hardmax, {3, 4}, {{Attr::axes, Integers{1}}});
}

TEST(ReductionGradients, ReadWhatPyTorchSaves) {
  const Attributes over = {{Attr::axes, Integers{1}},        {Attr::keepdims, std::int64_t{0}},
                           {Attr::axis, std::int64_t{1}},    {Attr::exclusive, std::int64_t{0}},
                           {Attr::reverse, std::int64_t{0}}, {Attr::k, std::int64_t{2}},
                           {Attr::largest, std::int64_t{1}}, {Attr::sorted, std::int64_t{1}}};
  const std::vector<TensorType> types = floats({{2, 3}});
  for (Op op : {Op::ReduceSum, Op::ReduceMean, Op::CumSum}) EXPECT_EQ(saved(op, types, over), "") << name_of(op);
  for (Op op : {Op::ReduceMax, Op::ReduceMin, Op::ReduceL1, Op::ReduceL2, Op::ReduceLogSumExp, Op::ReduceProd}) {
    EXPECT_EQ(saved(op, types, over), "input0 output0") << name_of(op);
  }
  EXPECT_EQ(saved(Op::ReduceSumSquare, types, over), "input0");
  EXPECT_EQ(saved(Op::ReduceLogSum, types, over), "output0");
  EXPECT_EQ(saved(Op::TopK, types, over), "node.out1");  // the indices
}

}  // namespace
}  // namespace monet::test
