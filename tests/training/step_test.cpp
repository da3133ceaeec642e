// Is the step complete, does it have the published numbers, and is nothing in it that nobody needs?
#include "training/step.h"

#include "graph/nests.h"
#include "graph/verify.h"
#include "networks/builtin.h"
#include "support/gradient_check.h"
#include "support/random_graph.h"
#include "support/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace monet::training {
namespace {

using testing::HasSubstr;

Expected<TrainingStep> step_of(const std::string& network, const StepOptions& options = {}) {
  auto graph = build_builtin(network);
  if (!graph) return graph.error();
  return make_training_step({*std::move(graph), false, {}, {}}, options);
}

TrainingStep sound_step(const std::string& network, const StepOptions& options = {}) {
  auto step = step_of(network, options);
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  if (!step) return {};
  const auto status = verify(step->graph);
  EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().text());
  return *std::move(step);
}

std::int64_t macs(const Graph& graph, Phase phase) {
  std::int64_t sum = 0;
  for (const Node& node : graph.nodes()) {
    if (node.phase == phase) sum += (*operation_counts(nests_of(site_of(graph, node))))[Count::mac];
  }
  return sum;
}

std::int64_t count_in_phase(const Graph& graph, Phase phase, Op op) {
  return std::ranges::count_if(graph.nodes(), [&](const Node& node) { return node.phase == phase && node.op == op; });
}

std::int64_t saved_elements(const TrainingStep& step) {
  std::int64_t sum = 0;
  for (const SavedTensor& saved : step.saved) sum += saved.elements;
  return sum;
}

std::int64_t trained_elements(const TrainingStep& step, std::size_t least_axes = 0) {
  std::int64_t sum = 0;
  for (const Trained& each : step.trained) {
    const Shape& shape = step.graph[each.parameter].type.shape;
    if (shape.size() >= least_axes) sum += element_count(shape);
  }
  return sum;
}

// The published training graphs: MACs, parameters, saved tensors.
TEST(Step, HasThePublishedNumbersOfResnet18) {
  const TrainingStep step = sound_step("resnet18-cifar-folded");
  EXPECT_EQ(macs(step.graph, Phase::forward), 2'221'690'880);
  EXPECT_EQ(macs(step.graph, Phase::backward), 4'436'303'872);
  EXPECT_EQ(trained_elements(step, 2), 11'164'352);
  EXPECT_EQ(step.saved.size(), 19U);
  EXPECT_EQ(saved_elements(step), 2'230'312);
}

TEST(Step, HasThePublishedNumbersOfTheSmallTransformer) {
  const TrainingStep step = sound_step("gpt2like");
  EXPECT_EQ(macs(step.graph, Phase::forward), 3'309'305'856);
  EXPECT_EQ(macs(step.graph, Phase::backward), 6'618'611'712);
  EXPECT_EQ(step.saved.size(), 35U);
  EXPECT_EQ(saved_elements(step), 7'782'400);
}

// 286,424 trained parameters; MACs as published, to four digits.
TEST(Step, HasThePublishedNumbersOfLowRankAdditions) {
  const TrainingStep step = sound_step("resnet18-cifar-folded", {.lora = LoraOptions{.rank = 8, .alpha = 8}});
  EXPECT_EQ(trained_elements(step), 286'424);
  EXPECT_NEAR(static_cast<double>(macs(step.graph, Phase::forward)), 2.3765e9, 0.00005e9);
  EXPECT_NEAR(static_cast<double>(macs(step.graph, Phase::backward)), 2.5233e9, 0.00005e9);
}

TEST(Step, ComputesNoGradientOfTheInput) {
  const TrainingStep step = sound_step("resnet18-cifar-folded");
  EXPECT_EQ(count_in_phase(step.graph, Phase::backward, Op::ConvWeightGrad), 20);
  EXPECT_EQ(count_in_phase(step.graph, Phase::backward, Op::ConvTranspose), 19);
}

TEST(Step, LeavesOutWhatFrozenParametersNeed) {
  const TrainingStep last = sound_step("resnet18", {.select = {.last_layers = 1}});
  EXPECT_EQ(macs(last.graph, Phase::backward), 1000 * 512);
  EXPECT_EQ(last.trained.size(), 2U);
  const TrainingStep biases = sound_step("mlp-robotics", {.select = {.bias_only = true}});
  // Gradients of activations behind the first bias only, and no weight gradient.
  EXPECT_EQ(macs(biases.graph, Phase::backward), 256 * 256 * 2 + 256 * 8);
}

// Every node of the backward part leads to a gradient or a new value that leaves the step.
TEST(Step, HasNoNodeThatNobodyNeeds) {
  for (const char* network : {"resnet18", "mobilenet-v2", "gpt2:layers=2", "gpt2:layers=2,flash=1",
                              "bert-base:layers=2", "unet", "fsrcnn", "gpt2like"}) {
    const LossKind loss = std::string(network) == "fsrcnn" ? LossKind::mean_squared_error : LossKind::cross_entropy;
    const TrainingStep step = sound_step(network, {.loss = {.kind = loss}});
    std::vector<bool> needed(step.graph.tensors().size(), false);
    for (std::size_t i = 0; i < needed.size(); ++i) needed[i] = step.graph.tensors()[i].updates.valid();
    for (std::size_t i = step.graph.nodes().size(); i-- > 0;) {
      const Node& node = step.graph.nodes()[i];
      const bool used =
          std::ranges::any_of(node.outputs, [&](TensorId id) { return id.valid() && needed[id.index()]; });
      EXPECT_TRUE(used || node.phase != Phase::backward) << network << ": " << node.name;
      if (!used) continue;
      for (TensorId id : node.inputs) {
        if (id.valid()) needed[id.index()] = true;
      }
    }
  }
}

TEST(Step, NamesGradientsAndNewValuesAfterTheParameter) {
  const TrainingStep step = sound_step("mlp-robotics");
  for (const Trained& each : step.trained) {
    const std::string name = step.graph[each.parameter].name;
    EXPECT_EQ(step.graph[each.gradient].name, name + ".grad");
    EXPECT_EQ(step.graph[each.gradient].role, Role::weight_gradient);
  }
  EXPECT_EQ(step.graph[step.loss].name, "loss");
}

TEST(Step, AdamWrittenOutHasFourteenNodesAWeight) {
  const TrainingStep fused = sound_step("mlp-robotics");
  const TrainingStep plain = sound_step("mlp-robotics", {.optimizer = {.elementwise = true}});
  const auto nodes = [](const TrainingStep& step) {
    return std::ranges::count_if(step.graph.nodes(), [](const Node& node) { return node.phase == Phase::optimizer; });
  };
  EXPECT_EQ(nodes(plain) - nodes(fused), 8 * (14 - 1));
  EXPECT_EQ(plain.graph[plain.trained[3].gradient].name, fused.graph[fused.trained[3].gradient].name);
}

TEST(Step, MixedPrecisionKeepsMasterWeights) {
  const auto recipe = read_recipe("mixed");
  ASSERT_TRUE(recipe.has_value());
  const TrainingStep step = sound_step("gpt2:layers=1", {.recipe = *recipe});
  for (const Trained& each : step.trained) {
    EXPECT_EQ(step.graph[each.parameter].type.format.element, ElementType::float32);
    EXPECT_EQ(step.graph[each.gradient].type.format.element, ElementType::float32);
  }
  for (const Node& node : step.graph.nodes()) {
    if (node.op != Op::MatMul) continue;
    EXPECT_EQ(step.graph[node.inputs[0]].type.format.element, ElementType::bfloat16) << node.name;
    EXPECT_EQ(step.graph[node.inputs[1]].type.format.element, ElementType::bfloat16) << node.name;
  }
}

// What the message says when a step cannot be made.
std::string step_refusal(const std::string& network, const StepOptions& options) {
  const auto step = step_of(network, options);
  return step ? "accepted" : step.error().text();
}

TEST(Step, RefusesALossThatDoesNotFit) {
  EXPECT_THAT(step_refusal("mlp-robotics", {.loss = {.kind = LossKind::output, .output = "action"}}),
              HasSubstr("the network has no output 'action'"));
  EXPECT_THAT(step_refusal("mlp-robotics", {.loss = {.class_axis = 5}}), HasSubstr("it has no axis 5"));
  EXPECT_THAT(step_refusal("mlp-robotics:outputs=1", {}), HasSubstr("use --loss mse or bce"));
  EXPECT_THAT(step_refusal("mlp-robotics", {.loss = {.label_smoothing = 2}}), HasSubstr("from 0 to 1"));
}

TEST(Step, NamesAnOperatorThatCannotBeDifferentiatedAndWhatLiesBehindIt) {
  GraphBuilder builder("net");
  const TensorId x = builder.input("x", {4, 8});
  const TensorId weight = builder.parameter("weight", {8, 8});
  const TensorId y =
      builder.add(Op::MatMul, "product", {x, weight},
                  {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}});
  const TensorId scale = builder.parameter("scale", {});
  builder.output(builder.add(Op::QuantizeLinear, "quantize", {y, scale},
                             {{Attr::to, std::int64_t{0}}, {Attr::axis, std::int64_t{1}}}));
  auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  const auto step =
      make_training_step({*std::move(graph), false, {}, {}}, {.loss = {.kind = LossKind::mean_squared_error}});
  ASSERT_FALSE(step.has_value());
  EXPECT_THAT(step.error().text(), HasSubstr("quantize"));
  EXPECT_THAT(step.error().text(), HasSubstr("'weight'"));
}

// Random graphs against central differences, every parameter and input.
TEST(Step, RandomGraphsAgreeWithCentralDifferences) {
  int checked = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const auto graph = test::RandomGraph(seed).make();
    ASSERT_TRUE(graph.has_value());
    Values values;
    std::vector<TensorId> wanted;
    for (std::size_t i = 0; i < graph->tensors().size(); ++i) {
      const Tensor& tensor = graph->tensors()[i];
      if (tensor.producer.valid()) continue;
      values.emplace(TensorId(i), test::random_array(tensor.type.shape, static_cast<unsigned>(i) + 100 * seed));
      wanted.push_back(TensorId(i));
    }
    const auto result = test::check_gradients(*graph, values, wanted);
    ASSERT_TRUE(result.has_value()) << result.error().text();
    EXPECT_LE(result->worst(), 1e-6) << "seed " << seed;
    ++checked;
  }
  EXPECT_EQ(checked, 60);
}

}  // namespace
}  // namespace monet::training
