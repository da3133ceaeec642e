// Is a reshape a view exactly where the addresses of its elements are evenly spaced along every axis?
#include "training/layout.h"

#include "graph/builder.h"
#include "interpret/interpret.h"

#include <gtest/gtest.h>

#include <random>

namespace monet::training {
namespace {

using Strides = std::vector<std::int64_t>;

std::vector<std::int64_t> addresses(const Shape& shape, const Strides& strides) {
  std::vector<std::int64_t> result;
  for (IndexCounter index(shape); index.more(); index.next()) {
    std::int64_t address = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) address += index[axis] * strides[axis];
    result.push_back(address);
  }
  return result;
}

// By brute force: strides along each axis are the address of the second element along it; then all must fit.
bool can_be_viewed(const std::vector<std::int64_t>& wanted, const Shape& to) {
  Strides strides(to.size(), 0);
  std::int64_t step = 1;
  for (std::size_t axis = to.size(); axis-- > 0;) {
    if (to[axis] > 1) strides[axis] = wanted[static_cast<std::size_t>(step)] - wanted[0];
    step *= to[axis];
  }
  return addresses(to, strides) == wanted;
}

TEST(Layout, ViewsExistExactlyWhereAddressesAllow) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  int views = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    // Prime factors dealt out to axes twice, so that both shapes have the same number of elements.
    const Shape factors = {2, 2, 3, 2};
    const auto dealt = [&] {
      Shape shape(1 + below(4), 1);
      for (std::int64_t factor : factors) shape[below(shape.size())] *= factor;
      return shape;
    };
    const Shape from = dealt();
    const Shape to = dealt();
    // A dense tensor with permuted axes, some of them sliced out of longer ones or broadcast.
    Strides strides(from.size());
    std::vector<std::size_t> order(from.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::int64_t step = 1;
    for (std::size_t axis : order) {
      strides[axis] = below(8) == 0 ? 0 : step;
      step *= from[axis] * static_cast<std::int64_t>(below(6) == 0 ? 2 : 1);
    }
    const auto wanted = addresses(from, strides);
    const auto result = view_strides(from, strides, to);
    ASSERT_EQ(result.has_value(), can_be_viewed(wanted, to));
    if (!result) continue;
    ++views;
    EXPECT_EQ(addresses(to, *result), wanted);
  }
  EXPECT_GT(views, 1000);
}

TEST(Layout, SplitHeadsAreViewsOfOneStorageAndMergedHeadsACopy) {
  GraphBuilder builder("attention");
  const TensorId x = builder.input("x", {2, 5, 12});
  const TensorId y = builder.add(Op::Relu, "y", {x});
  const std::vector<TensorId> parts =
      builder.add_many(Op::Split, "split", {y}, {{Attr::axis, std::int64_t{2}}, {Attr::split, Strides{4, 4, 4}}}, 3);
  const TensorId heads = builder.add(Op::Reshape, "heads", {parts[1]}, {{Attr::shape, Shape{2, 5, 2, 2}}});
  const TensorId turned = builder.add(Op::Transpose, "turned", {heads}, {{Attr::perm, Strides{0, 2, 1, 3}}});
  const TensorId merged = builder.add(Op::Reshape, "merged", {turned}, {{Attr::shape, Shape{2, 2, 10}}});
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value());
  const std::vector<Layout> result = layouts(*graph);
  EXPECT_EQ(result[turned.index()].storage, y);
  EXPECT_EQ(result[turned.index()].strides, (Strides{60, 2, 12, 1}));
  EXPECT_EQ(result[merged.index()].storage, merged);
}

TEST(Layout, OnePlaceOfAnAxisIsAView) {
  GraphBuilder builder("token");
  const TensorId x = builder.input("x", {2, 5, 3});
  const TensorId y = builder.add(Op::Relu, "y", {x});
  const TensorId first =
      builder.add(Op::Gather, "first", {y, builder.scalar(ElementType::int64, 0)}, {{Attr::axis, std::int64_t{1}}});
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value());
  const Layout layout = layouts(*graph)[first.index()];
  EXPECT_EQ(layout.storage, y);
  EXPECT_EQ(layout.strides, (Strides{15, 1}));
}

// Tokens first, then batch, then heads, merged again after fused attention: whether that is free.
bool merging_heads_is_free(ElementType type, const Strides& perm, const Shape& heads) {
  GraphBuilder builder("attention");
  const TensorId x = builder.input("x", {heads[0], heads[1], heads[2] * heads[3]}, type);
  const TensorId y = builder.add(Op::Relu, "y", {x});
  const TensorId split = builder.add(Op::Reshape, "heads", {y}, {{Attr::shape, heads}});
  const TensorId q = builder.add(Op::Transpose, "q", {split}, {{Attr::perm, perm}});
  const TensorId attention =
      builder.add(Op::Attention, "attention", {q, q, q},
                  {{Attr::scale, 1.0}, {Attr::is_causal, std::int64_t{0}}, {Attr::softcap, 0.0}});
  Strides inverse(4);
  for (std::size_t i = 0; i < 4; ++i) inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  const TensorId back = builder.add(Op::Transpose, "back", {attention}, {{Attr::perm, inverse}});
  const TensorId merged =
      builder.add(Op::Reshape, "merged", {back}, {{Attr::shape, Shape{heads[0] * heads[1], heads[2] * heads[3]}}});
  const auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  return layouts(*graph)[merged.index()].storage == attention;
}

// In 16 bits the output of fused attention has the query's order, so that merging heads is free whatever it is.
TEST(Layout, AttentionIn16BitsKeepsTheOrderOfTheQuery) {
  for (const ElementType type : {ElementType::bfloat16, ElementType::float16}) {
    EXPECT_TRUE(merging_heads_is_free(type, {1, 2, 0, 3}, {5, 2, 2, 2}));  // tokens, batch, heads
    EXPECT_TRUE(merging_heads_is_free(type, {0, 2, 1, 3}, {2, 5, 2, 2}));  // batch, tokens, heads
  }
}

// In 32 bits it lies batch, position, head: where tokens come first, merging is a copy.
TEST(Layout, AttentionIn32BitsLiesBatchPositionHead) {
  EXPECT_FALSE(merging_heads_is_free(ElementType::float32, {1, 2, 0, 3}, {5, 2, 2, 2}));
  EXPECT_TRUE(merging_heads_is_free(ElementType::float32, {0, 2, 1, 3}, {2, 5, 2, 2}));
}

}  // namespace
}  // namespace monet::training
