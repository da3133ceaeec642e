// Operators of domains that nobody here knows: read where the file says what they make, and written back.
#include "graph/custom.h"
#include "onnx/model.h"
#include "onnx/writer.h"
#include "support/expect_error.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

namespace monet::onnx {
namespace {

using test::attr;
using test::expect_error;
using test::OnnxModel;

// y = FancyNorm(relu(x), scale)
OnnxModel fancy_model() {
  OnnxModel model;
  model.input("x", {2, 3});
  model.initializer(test::float_tensor("scale", {3}, {1, 2, 3}));
  model.node("Relu", {"x"}, {"h"});
  model
      .node("FancyNorm", {"h", "scale"}, {"y"},
            {attr("epsilon", 0.1), attr("groups", 4), attr("mode", "same"), attr("axes", {1, 2})})
      .domain = "com.example";
  model.outputs.push_back({.name = "y", .dims = {2, 3}});
  return model;
}

const Node& custom_node(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::Custom) return node;
  }
  ADD_FAILURE() << "no custom operator";
  return graph.nodes().front();
}

TEST(CustomOperatorFiles, AreReadWithTheirNameAttributesAndTypes) {
  const NetworkGraph network = fancy_model().network();
  const Node& node = custom_node(network.graph);
  const CustomOperator custom = custom_operator(node.attributes);
  EXPECT_EQ(custom.domain, "com.example");
  EXPECT_EQ(custom.type, "FancyNorm");
  using Named = std::pair<std::string, AttributeValue>;
  EXPECT_EQ(custom.attributes, (std::vector<Named>{{"epsilon", 0.1},
                                                   {"groups", std::int64_t{4}},
                                                   {"mode", std::string("same")},
                                                   {"axes", std::vector<std::int64_t>{1, 2}}}));
  EXPECT_EQ(network.graph[node.outputs[0]].type.shape, (Shape{2, 3}));
  EXPECT_EQ(test::macs_of(network.graph), 0);
  EXPECT_TRUE(network.warnings.empty());
}

TEST(CustomOperatorFiles, AnUnknownOperatorOfAKnownDomainIsOne) {
  OnnxModel model = fancy_model();
  model.nodes[1].domain = "com.microsoft";
  EXPECT_EQ(operator_type(custom_node(model.network().graph)), "FancyNorm");
}

TEST(CustomOperatorFiles, InValueInfoAsWellAsAmongTheOutputs) {
  OnnxModel model = fancy_model();
  model.node("Relu", {"y"}, {"z"});
  model.outputs.clear();
  model.output("z");
  model.inner_values.push_back({.name = "y", .dims = {2, 7}, .type = test::onnx_int32});
  model.nodes[2].op_type = "Neg";
  const NetworkGraph network = model.network();
  EXPECT_EQ(network.graph[custom_node(network.graph).outputs[0]].type.shape, (Shape{2, 7}));
  EXPECT_EQ(network.graph[custom_node(network.graph).outputs[0]].type.format.element, ElementType::int32);
}

TEST(CustomOperatorFiles, DimensionsAreThoseOfTheInputs) {
  OnnxModel model = fancy_model();
  model.inputs[0].dims = {"N", 3};
  model.outputs[0].dims = {"N", 3};
  EXPECT_EQ(test::tensor_named(model.network({.batch = 8}).graph, "y").valid(), true);
  const Graph graph = model.network({.batch = 8}).graph;
  EXPECT_EQ(graph[custom_node(graph).outputs[0]].type.shape, (Shape{8, 3}));
}

TEST(CustomOperatorFiles, AFixedBatchFollowsTheInputs) {
  const Graph graph = fancy_model().network({.batch = 5}).graph;
  EXPECT_EQ(graph[custom_node(graph).outputs[0]].type.shape, (Shape{5, 3}));
}

TEST(CustomOperatorFiles, ABatchThatNoInputHasStays) {
  OnnxModel model = fancy_model();
  // It reads the scale alone: its two rows are no batch.
  model.nodes[1].inputs = {"scale"};
  model.node("Neg", {"h"}, {"z"});
  model.outputs = {{.name = "z", .dims = {2, 3}}};
  model.inner_values.push_back({.name = "y", .dims = {2, 3}});
  model.node("ReduceSum", {"y"}, {"s"}, {attr("keepdims", 0)});
  model.outputs.push_back({.name = "s", .dims = {}});
  const Graph graph = model.network({.batch = 5}).graph;
  EXPECT_EQ(graph[custom_node(graph).outputs[0]].type.shape, (Shape{2, 3}));
}

TEST(CustomOperatorFiles, UnwantedOutputsNeedNoType) {
  OnnxModel model = fancy_model();
  model.nodes[1].outputs = {"y", "", "statistics"};
  model.inner_values.push_back({.name = "statistics", .dims = {2}});
  model.outputs.push_back({.name = "statistics", .dims = {2}});
  const Graph graph = model.network().graph;
  const Node& node = custom_node(graph);
  ASSERT_EQ(node.outputs.size(), 3U);
  EXPECT_FALSE(node.outputs[1].valid());
  EXPECT_EQ(graph[node.outputs[2]].type.shape, (Shape{2}));
}

TEST(CustomOperatorFiles, AFunctionOfThatNameIsInlined) {
  OnnxModel model = fancy_model();
  model.functions.push_back({.name = "FancyNorm",
                             .domain = "com.example",
                             .inputs = {"a", "b"},
                             .outputs = {"c"},
                             .nodes = {test::make_node("Mul", {"a", "b"}, {"c"})}});
  const Graph graph = model.network().graph;
  EXPECT_EQ(test::count_of(graph, Op::Custom), 0U);
  EXPECT_EQ(test::count_of(graph, Op::Mul), 1U);
}

TEST(CustomOperatorFiles, WhatItReadsIsNoParameter) {
  const NetworkGraph network = fancy_model().network();
  EXPECT_EQ(test::parameters_of(network.graph), 0);
  ASSERT_EQ(network.notes.size(), 1U);
  EXPECT_NE(network.notes[0].find("'scale' (3) is not counted as a parameter: a custom operator reads it"),
            std::string::npos)
      << network.notes[0];
}

TEST(CustomOperatorFiles, AreWrittenBack) {
  const NetworkGraph network = fancy_model().network();
  const auto bytes = write_bytes(network.graph);
  ASSERT_TRUE(bytes.has_value()) << bytes.error().text();
  const auto raw = decode_model(*bytes);
  ASSERT_TRUE(raw.has_value());
  ASSERT_EQ(raw->opsets.size(), 2U);
  EXPECT_EQ(raw->opsets[1].domain, "com.example");
  const auto again = read_bytes(*bytes, "", {});
  ASSERT_TRUE(again.has_value()) << again.error().text();
  const Node& before = custom_node(network.graph);
  const Node& after = custom_node(again->graph);
  EXPECT_EQ(after.attributes, before.attributes);
  EXPECT_EQ(after.inputs.size(), before.inputs.size());
  EXPECT_EQ(again->graph[after.outputs[0]].type, network.graph[before.outputs[0]].type);
}

// ---- what is the user told?

TEST(CustomOperatorErrors, WithoutAShape) {
  OnnxModel model = fancy_model();
  model.outputs[0].has_shape = false;
  const Error error = model.error();
  expect_error(error, {"'FancyNorm'", "'com.example'", "does not say the shape of its output 'y'"},
               "node 'y' (FancyNorm)");
  EXPECT_NE(error.advice.find("value_info"), std::string::npos);
}

TEST(CustomOperatorErrors, WithoutAnything) {
  OnnxModel model = fancy_model();
  model.node("Neg", {"y"}, {"z"});
  model.outputs = {{.name = "z", .dims = {2, 3}}};
  expect_error(model.error(), {"is not known", "does not say the shape and element type of its output 'y'"},
               "node 'y' (FancyNorm)");
}

TEST(CustomOperatorErrors, ASequence) {
  OnnxModel model = fancy_model();
  model.outputs[0].kind = test::OnnxValue::Kind::sequence;
  expect_error(model.error(), {"does not say the shape and element type"}, "node 'y'");
}

TEST(CustomOperatorErrors, ADimensionThatNoInputHas) {
  OnnxModel model = fancy_model();
  model.outputs[0].dims = {2, "M"};
  expect_error(model.error(), {"FancyNorm", "'y'", "axis 1", "'M'", "no input has"}, "node 'y'");
  model.outputs[0].dims = {2, ""};
  expect_error(model.error(), {"FancyNorm", "'y'", "axis 1", "has no size"}, "node 'y'");
}

TEST(CustomOperatorErrors, AnImpossibleShape) {
  OnnxModel model = fancy_model();
  model.outputs[0].dims = {2, -3};
  EXPECT_NE(model.error().message.find("negative size"), std::string::npos);
}

TEST(CustomOperatorErrors, AnOutputOfNothing) {
  OnnxModel model = fancy_model();
  model.outputs[0].dims = {2, 0};
  const Error error = model.error();
  expect_error(error, {"the custom operator FancyNorm has an output 'y' whose axis 1 has size 0"}, "node 'y'");
  EXPECT_NE(error.advice.find("correct its size"), std::string::npos) << error.advice;
}

TEST(CustomOperatorErrors, InTheStandardDomainAnUnknownOperatorIsAMistake) {
  for (const char* domain : {"", "ai.onnx.ml"}) {
    OnnxModel model = fancy_model();
    model.nodes[1].domain = domain;
    expect_error(model.error(), {"'FancyNorm'", "is not known"}, "node 'y'");
  }
  OnnxModel model = fancy_model();
  model.nodes[0].op_type = "Rellu";
  EXPECT_EQ(model.error().advice.find("did you mean 'Relu'?"), 0U) << model.error().advice;
}

TEST(CustomOperatorErrors, AttributesThatAreNotKept) {
  OnnxModel model = fancy_model();
  model.nodes[1].attributes.push_back(attr("table", test::float_tensor("t", {1}, {1})));
  const NetworkGraph network = model.network();
  ASSERT_EQ(network.warnings.size(), 1U);
  EXPECT_EQ(network.warnings[0],
            "node 'y' (FancyNorm): the attribute 'table' is no number, text or list of numbers and is left out");
}

}  // namespace
}  // namespace monet::onnx
