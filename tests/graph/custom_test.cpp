// Operators that are known by name alone: what the graph keeps of them, and that they read and write all.
#include "graph/custom.h"

#include "graph/builder.h"
#include "graph/nests.h"
#include "graph/verify.h"
#include "interpret/interpret.h"
#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

CustomOperator fancy_norm() {
  return {.domain = "com.example",
          .type = "FancyNorm",
          .attributes = {{"groups", std::int64_t{4}},
                         {"epsilon", 1e-5},
                         {"mode", std::string("a:b\n3:c")},
                         {"axes", std::vector<std::int64_t>{1, -2}},
                         {"weights", std::vector<double>{0.1, -3}},
                         {"", std::string()},
                         {"none", std::vector<std::int64_t>{}}},
          .outputs = {{{2, 3}, {.element = ElementType::float16}}, {{}, {.element = ElementType::int64}}}};
}

Graph with_custom(const CustomOperator& custom) {
  GraphBuilder b("custom");
  const TensorId x = b.input("x", {2, 3, 4});
  const auto made = b.add_many(Op::Custom, "fancy", {x, TensorId(), b.parameter("scale", {3})},
                               custom_attributes(custom), custom.outputs.size());
  for (TensorId id : made) b.output(id);
  auto graph = b.finish();
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  return graph ? *std::move(graph) : Graph();
}

TEST(CustomOperators, AreKeptAsTheyAre) {
  const CustomOperator custom = fancy_norm();
  const CustomOperator again = custom_operator(custom_attributes(custom));
  EXPECT_EQ(again.domain, custom.domain);
  EXPECT_EQ(again.type, custom.type);
  EXPECT_EQ(again.attributes, custom.attributes);
  EXPECT_EQ(again.outputs, custom.outputs);
}

TEST(CustomOperators, ValuesAsText) {
  EXPECT_EQ(to_text(std::int64_t{-3}), "-3");
  EXPECT_EQ(to_text(0.5), "0.5");
  EXPECT_EQ(to_text(std::string("same")), "same");
  EXPECT_EQ(to_text(std::vector<std::int64_t>{1, 2}), "[1, 2]");
  EXPECT_EQ(to_text(std::vector<double>{0.5}), "[0.5]");
}

TEST(CustomOperators, HaveTheTypesThatAreStated) {
  const Graph graph = with_custom(fancy_norm());
  ASSERT_EQ(graph.nodes().size(), 1U);
  EXPECT_EQ(operator_type(graph.nodes()[0]), "FancyNorm");
  EXPECT_EQ(graph[graph.nodes()[0].outputs[0]].type.shape, (Shape{2, 3}));
  EXPECT_EQ(graph[graph.nodes()[0].outputs[0]].type.format.element, ElementType::float16);
  EXPECT_EQ(graph[graph.nodes()[0].outputs[1]].type.shape, Shape{});
  const Status verified = verify(graph);
  EXPECT_TRUE(verified.has_value()) << verified.error().text();
}

TEST(CustomOperators, OtherOperatorsHaveTheirOwnNames) {
  EXPECT_EQ(operator_type(Node{.name = "a", .op = Op::MatMul}), "MatMul");
}

TEST(CustomOperators, VerifyFindsAnotherShape) {
  Graph graph = with_custom(fancy_norm());
  graph[graph.nodes()[0].outputs[0]].type.shape = {2, 4};
  ASSERT_FALSE(verify(graph).has_value());
  EXPECT_NE(verify(graph).error().message.find("should be"), std::string::npos);
}

TEST(CustomOperators, MalformedDescriptionsAreErrors) {
  Attributes attributes = custom_attributes(fancy_norm());
  for (const std::vector<std::int64_t>& outputs :
       std::vector<std::vector<std::int64_t>>{{0}, {0, -1}, {0, 2, 1}, {999, 0}, {-1, 0}, {}}) {
    attributes.set(Attr::outputs, outputs);
    const auto types = infer({.op = Op::Custom, .attributes = attributes, .inputs = {}});
    ASSERT_FALSE(types.has_value());
    EXPECT_NE(types.error().message.find("FancyNorm"), std::string::npos);
  }
  attributes.set(Attr::options, std::string("9:x"));
  EXPECT_TRUE(custom_operator(attributes).attributes.empty());
}

TEST(CustomOperators, ReadAndWriteEverythingAtOnePointWithoutOperations) {
  const Graph graph = with_custom(fancy_norm());
  const OperatorNests nests = nests_of(site_of(graph, graph.nodes()[0]));
  ASSERT_EQ(nests.nests.size(), 1U);
  const Nest& nest = nests.nests[0];
  EXPECT_EQ(points(nest), 1);
  const auto counts = operation_counts(nests);
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ((*counts)[Count::mac] + other_operations(*counts), 0);
  ASSERT_EQ(nest.reads.size(), 2U);  // the absent input is not read
  EXPECT_EQ(nest.reads[1].operand, 2);
  ASSERT_EQ(nest.writes.size(), 2U);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    EXPECT_EQ(nest.reads[0].axes[axis].span, (Shape{2, 3, 4})[axis]);
    EXPECT_TRUE(nest.reads[0].axes[axis].terms.empty());
  }
}

TEST(CustomOperators, CannotBeInterpreted) {
  const Graph graph = with_custom(fancy_norm());
  Values values;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    if (!tensor.producer.valid()) values.emplace(TensorId(i), Array::zeros(tensor.type.shape));
  }
  const Status status = run(graph, values);
  ASSERT_FALSE(status.has_value());
  test::expect_error(status.error(), {"custom operator 'FancyNorm'", "not known"}, "node 'fancy'");
}

}  // namespace
}  // namespace monet
