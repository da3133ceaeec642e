// Does a normalization written out as simpler operators give the same values, statistics included?
#include "graph/expand.h"
#include "graph/verify.h"
#include "support/nest_check.h"
#include "support/operator_attributes.h"
#include "support/same_values.h"

#include <gtest/gtest.h>

namespace monet::test {
namespace {

// The last input is made positive first where it is a variance.
Graph norm(Op op, const std::vector<Shape>& shapes, const Attributes& attributes, std::size_t outputs) {
  GraphBuilder builder("norm");
  std::vector<TensorId> ids;
  for (const Shape& shape : shapes) ids.push_back(builder.input("input" + std::to_string(ids.size()), shape));
  if (op == Op::BatchNormalization) ids[4] = builder.add(Op::Exp, "variance", {ids[4]});
  for (TensorId id : builder.add_many(op, "norm", ids, attributes, outputs)) builder.output(id);
  return *builder.finish();
}

void expect_same_norm(Op op, const std::vector<Shape>& shapes, const Attributes& attributes, std::size_t outputs) {
  SCOPED_TRACE(std::string(name_of(op)));
  const Graph graph = norm(op, shapes, attributes, outputs);
  const auto expanded = expand(graph, [&](const Graph&, const Node& node) { return node.op == op; });
  ASSERT_TRUE(expanded.has_value()) << expanded.error().text();
  EXPECT_TRUE(verify(*expanded).has_value());
  EXPECT_TRUE(std::ranges::none_of(expanded->nodes(), [&](const Node& node) { return node.op == op; }));
  expect_same_values(graph, *expanded, 3, 1e-12);
}

TEST(ExpandNorm, Batch) {
  const std::vector<Shape> shapes = {{2, 3, 4, 2}, {3}, {3}, {3}, {3}};
  for (std::size_t outputs : {1, 3, 5}) {
    expect_same_norm(Op::BatchNormalization, shapes, norm_attributes({{Attr::training_mode, 1}}), outputs);
  }
  expect_same_norm(Op::BatchNormalization, shapes, norm_attributes({{Attr::training_mode, 0}}), 1);
  expect_same_norm(Op::BatchNormalization, {{4, 3}, {3}, {3}, {3}, {3}}, norm_attributes({{Attr::training_mode, 1}}),
                   5);
}

TEST(ExpandNorm, RowsAndGroups) {
  for (std::size_t outputs : {1, 2}) {
    expect_same_norm(Op::RMSNormalization, {{2, 3, 4}, {3, 1}}, norm_attributes({{Attr::axis, 1}}), outputs);
  }
  for (std::size_t outputs : {1, 3}) {
    for (std::int64_t groups : {1, 2, 4}) {
      expect_same_norm(Op::GroupNormalization, {{2, 4, 3, 2}, {4}, {4}}, norm_attributes({{Attr::num_groups, groups}}),
                       outputs);
    }
    expect_same_norm(Op::InstanceNormalization, {{2, 3, 4}, {3}, {3}}, norm_attributes({}), outputs);
  }
}

// Half precision in, half precision out; sums and statistics in single precision.
TEST(ExpandNorm, KeepsTypes) {
  for (const Op op : {Op::RMSNormalization, Op::GroupNormalization}) {
    GraphBuilder builder("half");
    const TensorId x = builder.input("x", {2, 4, 3}, ElementType::float16);
    const Shape parameter = {op == Op::RMSNormalization ? 3 : 4};
    std::vector<TensorId> inputs = {x, builder.input("scale", parameter, ElementType::float16)};
    if (op == Op::GroupNormalization) inputs.push_back(builder.input("bias", parameter, ElementType::float16));
    for (TensorId id :
         builder.add_many(op, "norm", inputs, norm_attributes({{Attr::axis, 2}, {Attr::num_groups, 2}}), 2)) {
      builder.output(id);
    }
    const auto expanded = expand(*builder.finish(), [&](const Graph&, const Node& node) { return node.op == op; });
    ASSERT_TRUE(expanded.has_value());
    for (const Node& node : expanded->nodes()) {
      if (node.op == Op::Cast) continue;
      for (TensorId id : node.inputs) {
        EXPECT_EQ((*expanded)[id].type.format.element, (*expanded)[node.inputs[0]].type.format.element) << node.name;
      }
      for (TensorId id : node.outputs) {
        const Tensor& made = (*expanded)[id];
        EXPECT_EQ(made.type.format.element, (*expanded)[node.inputs[0]].type.format.element) << node.name;
      }
    }
  }
}

}  // namespace
}  // namespace monet::test
