// Small steps in a recipe, and what was made of them.
#pragma once

#include "graph/builder.h"
#include "graph/verify.h"
#include "networks/layers.h"
#include "support/onnx_builder.h"
#include "training/quantized.h"
#include "training/step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace monet::training::quantized_case {

using test::tensor_named;

inline Recipe recipe_of(const std::string& name) {
  auto recipe = read_recipe(name);
  EXPECT_TRUE(recipe.has_value()) << (recipe ? "" : recipe.error().text());
  return recipe ? *recipe : Recipe{};
}

inline Recipe recipe_with(const std::string& lines) {
  auto recipe = parse_recipe("monet: 1\n" + lines, "test.yaml");
  EXPECT_TRUE(recipe.has_value()) << (recipe ? "" : recipe.error().text());
  return recipe ? *recipe : Recipe{};
}

inline TrainingStep step_in(Graph forward, const Recipe& recipe, OptimizerOptions optimizer = {}) {
  StepOptions options{.loss = {.kind = LossKind::mean_squared_error}, .optimizer = optimizer, .recipe = recipe};
  auto step = make_training_step({std::move(forward), false, {}, {}}, options);
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  if (!step) return {};
  const Status status = verify(step->graph);
  EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().text());
  return *std::move(step);
}

// Y = X·Wᵀ behind another one, so that X has a gradient.
inline Graph two_linear_layers(std::int64_t batch, std::int64_t in, std::int64_t out) {
  GraphBuilder builder("linear");
  TensorId x = builder.input("data", {batch, in});
  const Attributes transposed = {
      {Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{1}}, {Attr::alpha, 1.0}};
  x = builder.add(Op::MatMul, "first", {x, builder.parameter("W0", {in, in})}, transposed);
  x = builder.add(Op::Relu, "X", {x});
  x = builder.add(Op::MatMul, "Y", {x, builder.parameter("W", {out, in})}, transposed);
  builder.output(builder.add(Op::Tanh, "act", {x}));
  return *builder.finish();
}

inline std::int64_t count(const Graph& graph, Op op) { return std::ranges::count(graph.nodes(), op, &Node::op); }

// Axes, from the first, along which the copies of each tensor are grouped.
inline std::map<std::string, std::multiset<std::int64_t>> copied_axes(const Graph& graph) {
  std::map<std::string, std::multiset<std::int64_t>> result;
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::Quantize) continue;
    const Tensor& copy = graph[node.outputs[0]];
    result[graph[node.inputs[0]].name].insert(*normalized_axis(copy.type.format.group_axis, copy.type.shape.size()));
  }
  return result;
}

inline const QuantizedClass& class_named(const std::vector<QuantizedClass>& classes, const std::string& name) {
  for (const QuantizedClass& each : classes) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "no class " << name;
  static const QuantizedClass none;
  return none;
}

inline constexpr const char* vector_fp32 = "base: mxfp8\nvalues: fp32\n";
inline constexpr const char* square_fp32 = "base: mxfp8-square\nvalues: fp32\n";

inline Graph convolutions(std::int64_t batch, std::int64_t groups) {
  GraphBuilder builder("convolutions");
  TensorId x = builder.input("data", {batch, 32, 8, 8});
  x = networks::convolution(builder, "c1", x, {.channels = 64, .kernel = 3});
  x = networks::relu(builder, "X", x);
  x = networks::convolution(builder, "c2", x, {.channels = 64, .kernel = 3, .groups = groups});
  builder.output(builder.add(Op::Tanh, "act", {x}));
  return *builder.finish();
}

}  // namespace monet::training::quantized_case
