// Are branches and loops that shapes decide written out, and others refused?
#include "onnx/first_output.h"
#include "support/expect_error.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

namespace monet::onnx {
namespace {

using test::attr;
using test::expect_error;
using test::first_output;
using test::make_node;
using test::OnnxModel;
using test::subgraph;

using Reals = std::vector<double>;

OnnxModel model_with(std::vector<test::OnnxNode> nodes, test::Names outputs = {"y"}) {
  OnnxModel model;
  model.input("x", {3});
  model.initializer(test::bool_scalar("yes", true)).initializer(test::bool_scalar("no", false));
  model.initializer(test::int64_scalar("three", 3)).initializer(test::int64_scalar("zero", 0));
  model.nodes = std::move(nodes);
  for (const std::string& name : outputs) model.output(name);
  return model;
}

test::OnnxNode branches(const std::string& condition) {
  return make_node("If", {condition}, {"y"},
                   {subgraph("then_branch", {make_node("Neg", {"x"}, {"t"}), make_node("Abs", {"t"}, {"r"})}, {"r"}),
                    subgraph("else_branch", {make_node("Neg", {"x"}, {"t"})}, {"t"})});
}

// Doubles what it carries, each turn, and stacks what it was.
test::OnnxNode doubling(const std::string& turns, const std::string& condition, test::Names outputs = {"y"}) {
  return make_node("Loop", {turns, condition, "x"}, std::move(outputs),
                   {subgraph("body", {make_node("Identity", {"c"}, {"d"}), make_node("Add", {"v", "v"}, {"w"})},
                             {"d", "w", "v"}, {"i", "c", "v"})});
}

TEST(ControlFlow, TheBranchThatIsTakenIsRead) {
  EXPECT_EQ(first_output(model_with({branches("yes")})), (Reals{1, 0, 2}));
  EXPECT_EQ(first_output(model_with({branches("no")})), (Reals{1, 0, -2}));
}

TEST(ControlFlow, AShapeMayDecide) {
  OnnxModel model = model_with(
      {make_node("Size", {"x"}, {"size"}), make_node("Equal", {"size", "three"}, {"is_three"}), branches("is_three")});
  EXPECT_EQ(first_output(model), (Reals{1, 0, 2}));
}

TEST(ControlFlow, NestedBranchesSeeWhatIsAround) {
  const test::OnnxNode inner = make_node("If", {"no"}, {"inner"},
                                         {subgraph("then_branch", {make_node("Neg", {"x"}, {"t"})}, {"t"}),
                                          subgraph("else_branch", {make_node("Add", {"u", "x"}, {"t"})}, {"t"})});
  const test::OnnxNode outer = make_node("If", {"yes"}, {"y"},
                                         {subgraph("then_branch", {make_node("Abs", {"x"}, {"u"}), inner}, {"inner"}),
                                          subgraph("else_branch", {make_node("Neg", {"x"}, {"t"})}, {"t"})});
  EXPECT_EQ(first_output(model_with({outer})), (Reals{0, 0, 4}));
}

TEST(ControlFlow, ALoopTakesItsTurns) {
  EXPECT_EQ(first_output(model_with({doubling("three", "")})), (Reals{-8, 0, 16}));
  EXPECT_EQ(first_output(model_with({doubling("three", "yes")})), (Reals{-8, 0, 16}));
  EXPECT_EQ(first_output(model_with({doubling("three", "no")})), (Reals{-1, 0, 2}));
  EXPECT_EQ(first_output(model_with({doubling("zero", "yes")})), (Reals{-1, 0, 2}));
}

TEST(ControlFlow, ALoopStacksWhatItsTurnsGive) {
  const OnnxModel model = model_with({doubling("three", "yes", {"last", "y"})});
  const NetworkGraph network = model.network();
  EXPECT_EQ(network.graph[network.graph.outputs[0]].type.shape, (Shape{3, 3}));
  EXPECT_EQ(first_output(model), (Reals{-1, 0, 2, -2, 0, 4, -4, 0, 8}));
}

TEST(ControlFlow, DataMayNotDecide) {
  OnnxModel model = model_with({branches("flag")});
  model.input("flag", {}, test::onnx_bool);
  expect_error(model.error(), {"data decide what the If does"}, "node 'y' (If)");
  model.nodes = {doubling("turns", "")};
  model.input("turns", {}, test::onnx_int64);
  expect_error(model.error(), {"data decide what the Loop does"}, "node 'y' (Loop)");
  model.nodes = {doubling("three", "flag")};
  expect_error(model.error(), {"data decide what the Loop does"}, "node 'y' (Loop)");
}

TEST(ControlFlow, EndlessLoops) {
  std::vector<test::OnnxNode> sizes;
  for (int i = 0; i < 1000; ++i) sizes.push_back(make_node("Size", {"v"}, {"s" + std::to_string(i)}));
  const test::OnnxNode full =
      make_node("Loop", {"", "yes", "x"}, {"y"}, {subgraph("body", sizes, {"c", "v"}, {"i", "c", "v"})});
  expect_error(model_with({full}).error(), {"more than 200000 nodes"}, "node 'y' (Loop)");
  const test::OnnxNode empty =
      make_node("Loop", {"", "yes", "x"}, {"y"}, {subgraph("body", {}, {"c", "v"}, {"i", "c", "v"})});
  expect_error(model_with({empty}).error(), {"too many turns"}, "node 'y' (Loop)");
}

TEST(ControlFlow, DamagedGraphs) {
  const auto refused = [](test::OnnxNode node) {
    expect_error(model_with({std::move(node)}).error(), {"its graphs are damaged"}, "node 'y'");
  };
  refused(make_node("If", {"yes"}, {"y"}));
  refused(make_node("If", {"yes"}, {"y"}, {subgraph("then_branch", {}, {})}));
  refused(make_node("If", {"yes"}, {"y"}, {subgraph("then_branch", {}, {"nothing"})}));
  refused(make_node("If", {}, {"y"}, {subgraph("then_branch", {make_node("Abs", {"x"}, {"t"})}, {"t"})}));
  refused(make_node("Loop", {"three", "yes", "x"}, {"y"}));
  refused(make_node("Loop", {"three", "yes", "x"}, {"y"}, {subgraph("body", {}, {"c"}, {"i", "c", "v"})}));
  refused(make_node("Loop", {"three"}, {"y"}, {subgraph("body", {}, {"c"}, {"i", "c"})}));
}

TEST(ControlFlow, AnUndefinedNameInABranch) {
  const test::OnnxNode node =
      make_node("If", {"yes"}, {"y"}, {subgraph("then_branch", {make_node("Abs", {"q"}, {"t"})}, {"t"})});
  expect_error(model_with({node}).error(), {"'q' is defined nowhere"}, "(Abs)");
}

TEST(ControlFlow, WhatALoopCarriesMustBeThere) {
  for (const char* turns : {"zero", "three"}) {
    test::OnnxNode node = doubling(turns, "yes");
    node.inputs[2] = "";
    expect_error(model_with({node}).error(), {"damaged"}, "node 'y' (Loop)");
  }
}

}  // namespace
}  // namespace monet::onnx
