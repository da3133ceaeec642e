// Are the functions of a file put in the place of their calls as ONNX defines it?
#include "onnx/first_output.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

namespace monet::onnx {
namespace {

using test::attr;
using test::first_output;
using test::make_node;
using test::OnnxFunction;
using test::OnnxModel;

test::OnnxNode call(std::string function, test::Names inputs, test::Names outputs,
                    std::vector<test::OnnxAttribute> attributes = {}) {
  test::OnnxNode node = make_node(std::move(function), std::move(inputs), std::move(outputs), std::move(attributes));
  node.domain = "local";
  return node;
}

// b = a + a
OnnxFunction twice() {
  return {.name = "Twice", .inputs = {"a"}, .outputs = {"b"}, .nodes = {make_node("Add", {"a", "a"}, {"b"})}};
}

OnnxModel model_of(std::vector<test::OnnxNode> nodes, std::vector<OnnxFunction> functions,
                   test::Names outputs = {"y"}) {
  OnnxModel model;
  model.input("x", {3});
  model.nodes = std::move(nodes);
  model.functions = std::move(functions);
  for (const std::string& name : outputs) model.output(name);
  return model;
}

using Reals = std::vector<double>;

TEST(Functions, ACallIsItsBody) {
  const OnnxModel model = model_of({call("Twice", {"x"}, {"y"})}, {twice()});
  EXPECT_EQ(first_output(model), (Reals{-2, 0, 4}));
  const NetworkGraph network = model.network();
  ASSERT_EQ(network.graph.nodes().size(), 1);
  EXPECT_EQ(network.graph.nodes()[0].name, "y/b");
}

TEST(Functions, FunctionsMayCallFunctions) {
  const OnnxFunction four{.name = "Four",
                          .inputs = {"a"},
                          .outputs = {"b"},
                          .nodes = {call("Twice", {"a"}, {"t"}), call("Twice", {"t"}, {"b"})}};
  EXPECT_EQ(first_output(model_of({call("Four", {"x"}, {"t"}), call("Twice", {"t"}, {"y"})}, {twice(), four})),
            (Reals{-8, 0, 16}));
}

TEST(Functions, InnerNamesDoNotMeet) {
  // The same inner name "t" outside, in both calls, and calls of one name.
  const OnnxFunction f{.name = "F",
                       .inputs = {"a"},
                       .outputs = {"b"},
                       .nodes = {make_node("Neg", {"a"}, {"t"}), make_node("Relu", {"t"}, {"b"})}};
  std::vector<test::OnnxNode> nodes = {call("F", {"x"}, {"t"}), call("F", {"t"}, {"u"}),
                                       make_node("Sub", {"t", "u"}, {"y"})};
  nodes[0].name = nodes[1].name = "same";
  EXPECT_EQ(first_output(model_of(nodes, {f})), (Reals{1, 0, 0}));
}

TEST(Functions, AttributesComeFromTheCallOrTheDefault) {
  const auto leaky = [](std::vector<test::OnnxAttribute> defaults) {
    return OnnxFunction{
        .name = "Leaky",
        .inputs = {"a"},
        .outputs = {"b"},
        .nodes = {make_node("LeakyRelu", {"a"}, {"b"}, {attr("alpha", test::OnnxAttribute::Reference{"slope", 1})})},
        .attributes = {"slope"},
        .defaults = std::move(defaults)};
  };
  const auto with = [&](std::vector<test::OnnxAttribute> given, std::vector<test::OnnxAttribute> defaults) {
    return first_output(model_of({call("Leaky", {"x"}, {"y"}, std::move(given))}, {leaky(std::move(defaults))}));
  };
  EXPECT_EQ(with({attr("slope", 0.5)}, {}), (Reals{-0.5, 0, 2}));
  EXPECT_EQ(with({attr("slope", 0.5)}, {attr("slope", 0.25)}), (Reals{-0.5, 0, 2}));
  EXPECT_EQ(with({}, {attr("slope", 0.25)}), (Reals{-0.25, 0, 2}));
  EXPECT_EQ(with({}, {}), (Reals{-0.01, 0, 2}));  // the operator's own
}

TEST(Functions, AttributesPassThroughNestedCalls) {
  const OnnxFunction inner{
      .name = "Inner",
      .inputs = {"a"},
      .outputs = {"b"},
      .nodes = {make_node("LeakyRelu", {"a"}, {"b"}, {attr("alpha", test::OnnxAttribute::Reference{"p", 1})})},
      .attributes = {"p"}};
  const OnnxFunction outer{.name = "Outer",
                           .inputs = {"a"},
                           .outputs = {"b"},
                           .nodes = {call("Inner", {"a"}, {"b"}, {attr("p", test::OnnxAttribute::Reference{"q", 1})})},
                           .attributes = {"q"}};
  EXPECT_EQ(first_output(model_of({call("Outer", {"x"}, {"y"}, {attr("q", 0.5)})}, {inner, outer})),
            (Reals{-0.5, 0, 2}));
}

TEST(Functions, InputsMayBeLeftOut) {
  const OnnxFunction f{.name = "Bound",
                       .inputs = {"a", "low", "high"},
                       .outputs = {"b"},
                       .nodes = {make_node("Clip", {"a", "low", "high"}, {"b"})}};
  OnnxModel model = model_of({call("Bound", {"x", "", "one"}, {"y"})}, {f});
  model.initializer(test::float_scalar("one", 1));
  EXPECT_EQ(first_output(model), (Reals{-1, 0, 1}));
  model.nodes[0].inputs = {"x", "one"};
  EXPECT_EQ(first_output(model), (Reals{1, 1, 2}));
}

TEST(Functions, OutputsMayBeLeftOut) {
  const OnnxFunction f{.name = "Both",
                       .inputs = {"a"},
                       .outputs = {"b", "c"},
                       .nodes = {make_node("Neg", {"a"}, {"b"}), make_node("Abs", {"b"}, {"c"})}};
  EXPECT_EQ(first_output(model_of({call("Both", {"x"}, {"y"})}, {f})), (Reals{1, 0, -2}));
  EXPECT_EQ(first_output(model_of({call("Both", {"x"}, {"", "y"})}, {f})), (Reals{1, 0, 2}));
  EXPECT_EQ(first_output(model_of({call("Both", {"x"}, {"n", "y"})}, {f}, {"n", "y"})), (Reals{1, 0, -2}));
}

TEST(Functions, AnOutputMayBeAnInput) {
  const OnnxFunction f{
      .name = "Pass", .inputs = {"a"}, .outputs = {"a", "b"}, .nodes = {make_node("Neg", {"a"}, {"b"})}};
  EXPECT_EQ(first_output(model_of({call("Pass", {"x"}, {"y", "n"})}, {f})), (Reals{-1, 0, 2}));
}

TEST(Functions, OverloadsAreToldApart) {
  OnnxFunction first = twice();
  OnnxFunction second = twice();
  first.overload = "add";
  second.overload = "mul";
  second.nodes[0].op_type = "Mul";
  test::OnnxNode node = call("Twice", {"x"}, {"y"});
  node.overload = "mul";
  EXPECT_EQ(first_output(model_of({node}, {first, second})), (Reals{1, 0, 4}));
  node.overload = "add";
  EXPECT_EQ(first_output(model_of({node}, {first, second})), (Reals{-2, 0, 4}));
}

TEST(Functions, AFunctionHasItsOwnOperatorSet) {
  // Squeeze takes its axes as an attribute before operator set 13.
  OnnxFunction f{.name = "Old",
                 .inputs = {"a"},
                 .outputs = {"b"},
                 .nodes = {make_node("Unsqueeze", {"a"}, {"t"}, {attr("axes", {0})}),
                           make_node("Squeeze", {"t"}, {"b"}, {attr("axes", {0})})},
                 .opsets = {{"", 11}}};
  EXPECT_EQ(first_output(model_of({call("Old", {"x"}, {"y"})}, {f})), (Reals{-1, 0, 2}));
}

TEST(Functions, AFunctionMayReplaceAStandardOperator) {
  OnnxFunction f = twice();
  f.name = "Relu";
  f.domain = "";
  EXPECT_EQ(first_output(model_of({make_node("Relu", {"x"}, {"y"})}, {f})), (Reals{-2, 0, 4}));
}

}  // namespace
}  // namespace monet::onnx
