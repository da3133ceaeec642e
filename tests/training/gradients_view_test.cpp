// Does every rule for views agree with central differences?
#include "support/nest_check.h"
#include "training/expect_gradient.h"

#include <gtest/gtest.h>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;

void expect_view_gradient(Op op, const std::vector<Shape>& shapes, const Attributes& attributes = {},
                          std::size_t outputs = 1) {
  expect_gradient(op, floats(shapes), attributes, {}, outputs);
}

TEST(ViewGradients, OfOtherShapes) {
  expect_view_gradient(Op::Identity, {{2, 3}});
  expect_view_gradient(Op::Reshape, {{2, 3, 4}}, {{Attr::shape, Shape{4, 6}}});
  expect_view_gradient(Op::Reshape, {{1}}, {{Attr::shape, Shape{}}});
  expect_view_gradient(Op::Transpose, {{2, 3, 4}}, {{Attr::perm, Integers{2, 0, 1}}});
  for (const Shape& from : {Shape{3, 1}, Shape{}, Shape{1, 3, 4}, Shape{2, 3, 4}}) {
    expect_view_gradient(Op::Expand, {from}, {{Attr::shape, Shape{2, 3, 4}}});
  }
}

Attributes slices(Integers axes, Integers starts, Integers steps, Shape to) {
  return {{Attr::axes, axes}, {Attr::starts, starts}, {Attr::steps, steps}, {Attr::shape, to}};
}

TEST(ViewGradients, OfSlices) {
  expect_view_gradient(Op::Slice, {{4, 7}}, slices({1}, {2}, {1}, {4, 3}));
  expect_view_gradient(Op::Slice, {{4, 7}}, slices({0, 1}, {1, 0}, {1, 1}, {3, 7}));
  // Steps of every kind: ends inside, at and short of the axis' end, and backward.
  for (std::int64_t step : {-7, -3, -2, -1, 1, 2, 3, 7}) {
    for (std::int64_t start = 0; start < 7; ++start) {
      for (std::int64_t count = 1; count <= 7; ++count) {
        const std::int64_t last = start + step * (count - 1);
        if (last >= 0 && last < 7) expect_view_gradient(Op::Slice, {{2, 7}}, slices({1}, {start}, {step}, {2, count}));
      }
    }
  }
  expect_view_gradient(Op::Slice, {{5, 2, 6}}, slices({0, 2}, {4, 1}, {-2, 2}, {3, 2, 3}));
  expect_view_gradient(Op::Slice, {{4, 7}}, slices({1}, {9}, {1}, {4, 0}));
}

TEST(ViewGradients, OfPartsAndJoins) {
  expect_view_gradient(Op::Split, {{2, 6}}, {{Attr::axis, std::int64_t{1}}, {Attr::split, Integers{1, 3, 2}}}, 3);
  // Of the last part nobody wants the gradient.
  expect_view_gradient(Op::Split, {{2, 6}}, {{Attr::axis, std::int64_t{1}}, {Attr::split, Integers{1, 3, 2}}}, 2);
  expect_view_gradient(Op::Split, {{6, 2}}, {{Attr::axis, std::int64_t{0}}, {Attr::split, Integers{6}}}, 1);
  expect_view_gradient(Op::Concat, {{2, 3}, {2, 1}, {2, 2}}, {{Attr::axis, std::int64_t{1}}});
  expect_view_gradient(Op::Concat, {{1, 3}}, {{Attr::axis, std::int64_t{0}}});
}

TEST(ViewGradients, OfBlocks) {
  for (const std::string mode : {"DCR", "CRD"}) {
    expect_view_gradient(Op::DepthToSpace, {{2, 8, 2, 3}}, {{Attr::blocksize, std::int64_t{2}}, {Attr::mode, mode}});
  }
  expect_view_gradient(Op::SpaceToDepth, {{1, 2, 6, 9}}, {{Attr::blocksize, std::int64_t{3}}});
}

}  // namespace
}  // namespace monet::test
