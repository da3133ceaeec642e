#include "graph/infer.h"

#include "graph/inferred.h"
#include "support/nest_check.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using test::floats;
using test::infer_complaint;
using test::inferred;
using test::inferred_shape;
using test::largest_integer;
using test::smallest_integer;

Attributes slice(Shape axes, Shape starts, Shape steps, Shape shape) {
  return {{Attr::axes, axes}, {Attr::starts, starts}, {Attr::steps, steps}, {Attr::shape, shape}};
}

TEST(InferView, GivesTheShapes) {
  EXPECT_EQ(inferred_shape(Op::Identity, floats({{2, 3}}), {}), (Shape{2, 3}));
  EXPECT_EQ(inferred_shape(Op::Reshape, floats({{2, 3}}), {{Attr::shape, Shape{3, 1, 2}}}), (Shape{3, 1, 2}));
  EXPECT_EQ(inferred_shape(Op::Transpose, floats({{2, 3, 4}}), {{Attr::perm, Shape{2, 0, 1}}}), (Shape{4, 2, 3}));
  EXPECT_EQ(inferred_shape(Op::Concat, floats({{2, 3}, {2, 4}}), {{Attr::axis, std::int64_t{1}}}), (Shape{2, 7}));
  EXPECT_EQ(inferred_shape(Op::Expand, floats({{3, 1}}), {{Attr::shape, Shape{2, 3, 4}}}), (Shape{2, 3, 4}));
  EXPECT_EQ(inferred_shape(Op::DepthToSpace, floats({{1, 8, 2, 3}}),
                           {{Attr::blocksize, std::int64_t{2}}, {Attr::mode, std::string("DCR")}}),
            (Shape{1, 2, 4, 6}));
  EXPECT_EQ(inferred_shape(Op::SpaceToDepth, floats({{1, 2, 4, 6}}), {{Attr::blocksize, std::int64_t{2}}}),
            (Shape{1, 8, 2, 3}));
}

TEST(InferView, SplitGivesEveryPart) {
  const auto types =
      inferred(Op::Split, floats({{6, 2}}), {{Attr::axis, std::int64_t{0}}, {Attr::split, Shape{4, 0, 2}}});
  ASSERT_TRUE(types.has_value());
  ASSERT_EQ(types->size(), 3U);
  EXPECT_EQ((*types)[1].shape, (Shape{0, 2}));
  EXPECT_EQ((*types)[2].shape, (Shape{2, 2}));
}

TEST(InferView, SlicesForwardAndBackward) {
  EXPECT_EQ(inferred_shape(Op::Slice, floats({{5, 6}}), slice({1}, {1}, {2}, {5, 3})), (Shape{5, 3}));
  EXPECT_EQ(inferred_shape(Op::Slice, floats({{5, 6}}), slice({0, 1}, {4, 5}, {-2, -1}, {3, 6})), (Shape{3, 6}));
  EXPECT_EQ(inferred_shape(Op::Slice, floats({{5, 6}}), slice({0}, {0}, {1}, {0, 6})), (Shape{0, 6}));
}

TEST(InferView, SliceComplaints) {
  EXPECT_EQ(infer_complaint(Op::Slice, floats({{5, 6}}), slice({1}, {1}, {2}, {5, 4})),
            "Slice cannot take 4 elements from 1 in steps of 2 along axis 1 of 5x6");
  EXPECT_EQ(infer_complaint(Op::Slice, floats({{5, 6}}), slice({0}, {1}, {-1}, {3, 6})),
            "Slice cannot take 3 elements from 1 in steps of -1 along axis 0 of 5x6");
  EXPECT_EQ(infer_complaint(Op::Slice, floats({{5, 6}}), slice({}, {}, {}, {5, 5})), "Slice cannot take 5x5 from 5x6");
  EXPECT_EQ(infer_complaint(Op::Slice, floats({{5, 6}}), slice({1, 0}, {0, 0}, {1, 1}, {5, 6})),
            "Slice of 5x6 has the axes [1, 0], which are not its own in order");
  EXPECT_EQ(infer_complaint(Op::Slice, floats({{5}}), slice({0}, {0, 1}, {1}, {5})),
            "Slice of 5 has 1 axes, 2 starts and 1 steps");
  for (std::int64_t start : {smallest_integer, largest_integer}) {
    for (std::int64_t step : {smallest_integer, largest_integer, std::int64_t{0}}) {
      EXPECT_FALSE(inferred(Op::Slice, floats({{5}}), slice({0}, {start}, {step}, {5})).has_value());
    }
  }
}

TEST(InferView, Complaints) {
  EXPECT_EQ(infer_complaint(Op::Reshape, floats({{2, 3}}), {{Attr::shape, Shape{4, 2}}}),
            "Reshape cannot turn 2x3 into 4x2: the numbers of elements differ");
  EXPECT_EQ(infer_complaint(Op::Reshape, floats({{2, 3}}), {{Attr::shape, Shape{-2, -3}}}),
            "Reshape cannot turn 2x3 into -2x-3: the numbers of elements differ");
  EXPECT_EQ(infer_complaint(Op::Transpose, floats({{2, 3}}), {{Attr::perm, Shape{0, 0}}}),
            "Transpose of 2x3 cannot order its axes as [0, 0]");
  EXPECT_EQ(infer_complaint(Op::Split, floats({{6}}), {{Attr::axis, std::int64_t{0}}, {Attr::split, Shape{4, 4}}}),
            "Split of 6 along axis 0 has sizes [4, 4] that do not add up to 6");
  EXPECT_EQ(infer_complaint(Op::Split, floats({{6}}),
                            {{Attr::axis, std::int64_t{0}}, {Attr::split, Shape{largest_integer, largest_integer}}}),
            "Split of 6 along axis 0 has sizes [9223372036854775807, 9223372036854775807] that do not add up to 6");
  EXPECT_EQ(infer_complaint(Op::Split, floats({{6}}), {{Attr::axis, std::int64_t{1}}, {Attr::split, Shape{6}}}),
            "Split of 6 has no axis 1");
  EXPECT_EQ(infer_complaint(Op::Split, floats({{0}}), {{Attr::axis, std::int64_t{0}}, {Attr::split, Shape(65537, 0)}}),
            "Split of 0 into 65537 parts is not possible");
  EXPECT_EQ(infer_complaint(Op::Concat, floats({{2, 3}, {3, 4}}), {{Attr::axis, std::int64_t{1}}}),
            "Concat along axis 1 cannot join 2x3 and 3x4");
  EXPECT_EQ(infer_complaint(Op::Concat, floats({{2, 3}, {2}}), {{Attr::axis, std::int64_t{0}}}),
            "Concat along axis 0 cannot join 2x3 and 2");
  EXPECT_EQ(infer_complaint(Op::Expand, floats({{3, 2}}), {{Attr::shape, Shape{3, 1}}}),
            "Expand cannot broadcast 3x2 to 3x1");
  EXPECT_EQ(infer_complaint(Op::SpaceToDepth, floats({{1, 2, 4, 6}}), {{Attr::blocksize, std::int64_t{4}}}),
            "SpaceToDepth of 1x2x4x6 cannot use blocks of 4");
  EXPECT_EQ(infer_complaint(Op::SpaceToDepth, floats({{1, 2, 4, 6}}), {{Attr::blocksize, largest_integer}}),
            "SpaceToDepth of 1x2x4x6 cannot use blocks of 9223372036854775807");
  EXPECT_EQ(infer_complaint(Op::DepthToSpace, floats({{1, 4, 2, 2}}),
                            {{Attr::blocksize, std::int64_t{2}}, {Attr::mode, std::string("RCD")}}),
            "DepthToSpace has no mode 'RCD'");
}

}  // namespace
}  // namespace monet
