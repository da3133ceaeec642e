// Shapes of collectives, what chips have after them, and the messages where they do not fit.
#include "graph/builder.h"
#include "graph/infer.h"
#include "graph/verify.h"
#include "interpret/ranks.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using Integers = std::vector<std::int64_t>;

Attributes over(std::int64_t chips, Integers axes = {}, Integers blocks = {}) {
  Attributes attributes = {{Attr::mesh, std::string("x")}, {Attr::group, chips}};
  if (!axes.empty()) attributes.set(Attr::axes, std::move(axes));
  if (!blocks.empty()) attributes.set(Attr::blocks, std::move(blocks));
  return attributes;
}

Attributes sum(std::int64_t chips, const char* reduction = "sum") {
  Attributes attributes = over(chips);
  attributes.set(Attr::reduction, std::string(reduction));
  return attributes;
}

std::string shape_after(Op op, const Shape& shape, const Attributes& attributes) {
  const TensorType type{shape, {}};
  const TensorType* input = &type;
  const auto types = infer({.op = op, .attributes = attributes, .inputs = {&input, 1}});
  return types ? to_string((*types)[0].shape) : types.error().message;
}

TEST(CollectiveShapes, FollowFromTheGroup) {
  EXPECT_EQ(shape_after(Op::AllReduce, {6, 4}, sum(3)), "6x4");
  EXPECT_EQ(shape_after(Op::AllGather, {6, 4}, over(3, {0}, {2})), "18x4");
  EXPECT_EQ(shape_after(Op::ReduceScatter, {6, 4}, over(3, {0}, {2})), "2x4");
  EXPECT_EQ(shape_after(Op::AllToAll, {6, 4}, over(2, {0, 1}, {1, 1})), "12x2");
  EXPECT_EQ(shape_after(Op::Send, {6, 4}, over(2)), "6x4");
}

TEST(CollectiveShapes, SayWhatDoesNotFit) {
  EXPECT_EQ(shape_after(Op::AllReduce, {6}, sum(0)), "AllReduce over a group of 0 chips is not possible");
  EXPECT_EQ(shape_after(Op::ReduceScatter, {6, 4}, over(4, {0}, {1})),
            "ReduceScatter over 4 chips cannot work along axis 0 of 6x4 in 1 blocks");
  EXPECT_EQ(shape_after(Op::AllGather, {6, 4}, over(4, {2}, {1})),
            "AllGather over 4 chips cannot work along axis 2 of 6x4 in 1 blocks");
  EXPECT_EQ(shape_after(Op::AllGather, {6, 4}, over(4, {0, 1}, {1, 1})),
            "AllGather of 1 tensors has 2 axes and 2 blocks");
  EXPECT_EQ(shape_after(Op::AllToAll, {6, 4}, over(2, {0}, {1})),
            "AllToAll takes one tensor, two axes and their blocks");
  EXPECT_EQ(shape_after(Op::AllToAll, {6, 4}, over(2, {0, 0}, {1, 1})),
            "AllToAll over 2 chips cannot work along axis 0 of 6x4 in 1 blocks");
}

// What each of two chips has after an operator, from [0, 1, …] and [10, 11, …].
std::vector<std::vector<double>> after(Op op, const Attributes& attributes, std::int64_t size = 4) {
  GraphBuilder builder("two");
  const TensorId x = builder.input("x", {size});
  const TensorId y = builder.add(op, "y", {x}, attributes);
  builder.output(y);
  const auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  EXPECT_TRUE(verify(*graph).has_value());
  std::vector<Values> values(2);
  for (std::size_t chip = 0; chip < 2; ++chip) {
    Array own = Array::zeros({size});
    for (std::size_t i = 0; i < own.values.size(); ++i) own.values[i] = static_cast<double>(10 * chip + i);
    values[chip].emplace(x, std::move(own));
  }
  const auto status = run_ranks(*graph, {{{"x", 2}}}, values);
  EXPECT_TRUE(status.has_value()) << status.error().text();
  return {values[0].at(y).values, values[1].at(y).values};
}

TEST(CollectiveValues, AreThoseOfTheGroup) {
  using Both = std::vector<std::vector<double>>;
  EXPECT_EQ(after(Op::AllReduce, sum(2)), (Both{{10, 12, 14, 16}, {10, 12, 14, 16}}));
  EXPECT_EQ(after(Op::AllReduce, sum(2, "max")), (Both{{10, 11, 12, 13}, {10, 11, 12, 13}}));
  EXPECT_EQ(after(Op::AllReduce, sum(2, "min")), (Both{{0, 1, 2, 3}, {0, 1, 2, 3}}));
  EXPECT_EQ(after(Op::ReduceScatter, over(2, {0}, {1})), (Both{{10, 12}, {14, 16}}));
  EXPECT_EQ(after(Op::ReduceScatter, over(2, {0}, {2})), (Both{{10, 14}, {12, 16}}));
  EXPECT_EQ(after(Op::AllGather, over(2, {0}, {1}), 2), (Both{{0, 1, 10, 11}, {0, 1, 10, 11}}));
  EXPECT_EQ(after(Op::AllGather, over(2, {0}, {2}), 2), (Both{{0, 10, 1, 11}, {0, 10, 1, 11}}));
  Attributes one = over(2);
  one.set(Attr::start, std::int64_t{1});
  EXPECT_EQ(after(Op::Broadcast, one, 2), (Both{{10, 11}, {10, 11}}));
  Attributes next = over(2);
  next.set(Attr::delta, std::int64_t{1});
  EXPECT_EQ(after(Op::Receive, next, 2), (Both{{10, 11}, {0, 1}}));
}

TEST(CollectiveValues, NeedTheGroup) {
  GraphBuilder builder("alone");
  const TensorId x = builder.input("x", {2});
  builder.add(Op::AllReduce, "y", {x}, sum(2));
  const auto graph = builder.finish();
  Values values = {{x, Array::zeros({2})}};
  const auto status = run(*graph, values);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().text().find("AllReduce needs the other chips of its group"), std::string::npos);
  std::vector<Values> all(3, values);
  const auto wrong = run_ranks(*graph, {{{"x", 3}}}, all);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_NE(wrong.error().text().find("its group has another size"), std::string::npos);
}

}  // namespace
}  // namespace monet
