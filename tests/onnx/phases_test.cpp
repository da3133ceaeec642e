// Are the parts of a training step made by others told apart?
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace monet::onnx {
namespace {

using test::attr;
using test::OnnxModel;

// Two layers, cross entropy, their gradients, and a step with momentum for the first weight.
OnnxModel training_step_file() {
  OnnxModel model;
  model.opsets = {{"", 17}, {"com.microsoft", 1}};
  model.input("x", {4, 3}).input("labels", {4}, test::onnx_int64);
  model.input("w1", {3, 5}).input("w2", {5, 2}).input("w1.m", {3, 5}).input("rate", {});
  model.node("MatMul", {"x", "w1"}, {"z"});
  model.node("Relu", {"z"}, {"h"});
  model.node("MatMul", {"h", "w2"}, {"scores"});
  model.node("SoftmaxCrossEntropyLoss", {"scores", "labels"}, {"loss", "log_p"});
  model.initializer(test::float_scalar("one", 1));
  model.initializer(test::float_scalar("beta", 0.9F));
  model.node("SoftmaxCrossEntropyLossGrad", {"one", "log_p", "labels"}, {"d_scores"}).domain = "com.microsoft";
  model.node("Transpose", {"w2"}, {"w2_t"});
  model.node("MatMul", {"d_scores", "w2_t"}, {"d_h"});
  model.node("Transpose", {"h"}, {"h_t"});
  model.node("MatMul", {"h_t", "d_scores"}, {"w2.grad"});
  model.node("ReluGrad", {"d_h", "h"}, {"d_z"}).domain = "com.microsoft";
  model.node("Transpose", {"x"}, {"x_t"});
  model.node("MatMul", {"x_t", "d_z"}, {"w1.grad"});
  model.node("Mul", {"w1.m", "beta"}, {"decayed"});
  model.node("Add", {"decayed", "w1.grad"}, {"w1.m.new"});
  model.node("Mul", {"w1.m.new", "rate"}, {"step"});
  model.node("Sub", {"w1", "step"}, {"w1.new"});
  for (const char* name : {"loss", "w2.grad", "w1.m.new", "w1.new"}) model.output(name);
  return model;
}

TEST(Phases, EachNodeBelongsToItsPart) {
  const NetworkGraph network = training_step_file().network();
  EXPECT_TRUE(network.is_training_step);
  const auto phase = [&](const char* name) {
    const auto node = std::ranges::find(network.graph.nodes(), name, &Node::name);
    EXPECT_NE(node, network.graph.nodes().end()) << name;
    return node == network.graph.nodes().end() ? Phase::forward : node->phase;
  };
  for (const char* name : {"z", "h", "scores", "loss"}) EXPECT_EQ(phase(name), Phase::forward) << name;
  for (const char* name : {"d_scores", "d_h", "w2.grad", "d_z", "w1.grad", "w2_t", "h_t", "x_t"})
    EXPECT_EQ(phase(name), Phase::backward) << name;
  for (const char* name : {"decayed", "w1.m.new", "step", "w1.new"}) EXPECT_EQ(phase(name), Phase::optimizer) << name;
}

TEST(Phases, WeightsThatAreInputsCountAsParameters) {
  const NetworkGraph network = training_step_file().network();
  const Graph& graph = network.graph;
  EXPECT_EQ(test::parameters_of(graph), 15 + 10);
  const auto role = [&](const char* name) { return graph[test::tensor_named(graph, name)].role; };
  EXPECT_EQ(role("w1"), Role::weight);
  EXPECT_EQ(role("w2"), Role::weight);
  EXPECT_EQ(role("w1.m"), Role::optimizer_state);
  EXPECT_EQ(role("x"), Role::input);
  EXPECT_EQ(role("labels"), Role::input);
  EXPECT_EQ(role("rate"), Role::input);
  EXPECT_EQ(role("d_scores"), Role::gradient);
  EXPECT_EQ(role("h"), Role::activation);
  EXPECT_EQ(role("w1.m.new"), Role::optimizer_state);
}

TEST(Phases, AForwardNetworkIsNoTrainingStep) {
  OnnxModel model = training_step_file();
  model.nodes.resize(4);
  model.outputs.resize(1);
  const NetworkGraph network = model.network();
  EXPECT_FALSE(network.is_training_step);
  for (const Node& node : network.graph.nodes()) EXPECT_EQ(node.phase, Phase::forward);
}

TEST(Phases, BackwardCostsTwiceTheForward) {
  // But for the gradient of x, which nobody asks for.
  const Graph graph = training_step_file().network().graph;
  EXPECT_EQ(test::macs_of(graph), (4 * 3 * 5 + 4 * 5 * 2) + (4 * 3 * 5 + 2 * 4 * 5 * 2));
}

}  // namespace
}  // namespace monet::onnx
