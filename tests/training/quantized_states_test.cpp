// What becomes of weights, stored values, gradients and states, and do other rewrites work on the result?
#include "training/quantized_case.h"

#include "graph/nests.h"
#include "networks/builtin.h"
#include "networks/layers.h"
#include "training/blocks.h"
#include "training/recompute.h"
#include "training/recompute_step.h"

#include <gmock/gmock.h>

namespace monet::training {
namespace {

using namespace quantized_case;
using test::parameters_of;
using testing::HasSubstr;

// Integers alone: what lies between operators is int8 with one power of two, sums are int32, no other weights.
TEST(Quantized, IntegerTraining) {
  const TrainingStep step =
      step_in(two_linear_layers(64, 96, 128), recipe_of("int8-integer"), {.kind = OptimizerKind::sgd});
  const auto format = [&](const std::string& name) {
    return to_string(step.graph[tensor_named(step.graph, name)].type.format);
  };
  EXPECT_EQ(format("W"), "int8:e8m0/tensor");
  EXPECT_EQ(format("W.new"), "int8:e8m0/tensor");
  EXPECT_EQ(format("W.grad"), "int32:e8m0/tensor");
  EXPECT_EQ(format("Y.out"), "int8:e8m0/tensor");
  EXPECT_EQ(format("Y.out.sum"), "int32:e8m0/tensor");
  EXPECT_EQ(format("X.out"), "int8:e8m0/tensor");
  EXPECT_EQ(format("act.grad.TanhGrad.out"), "int8:e8m0/tensor");
  EXPECT_EQ(step.graph[tensor_named(step.graph, "W")].role, Role::weight);
  // The update adds up and rounds in place.
  const Node& update = step.graph[step.graph[tensor_named(step.graph, "W.new")].producer];
  EXPECT_EQ(update.op, Op::SgdUpdate);
  EXPECT_EQ(update.attributes.text(Attr::mode), "stochastic");
  for (const Node& node : step.graph.nodes()) {
    if (node.op != Op::MatMul) continue;
    for (TensorId id : node.inputs) EXPECT_EQ(step.graph[id].type.format.element, ElementType::int8) << node.name;
  }
  EXPECT_EQ(class_named(step.formats, "master weights").bytes, 96 * 96 + 1 + 128 * 96 + 1);
  EXPECT_EQ(class_named(step.formats, "activations").copies, 1);  // the data: all others are stored so
}

const Node& maker_of(const Graph& graph, const std::string& name) {
  return graph[graph[tensor_named(graph, name)].producer];
}

// Gradients that products leave are rounded at random, what they leave in the forward part to the nearest.
TEST(Quantized, IntegerTrainingRoundsGradientsAtRandom) {
  const TrainingStep step =
      step_in(two_linear_layers(64, 96, 128), recipe_of("int8-integer"), {.kind = OptimizerKind::sgd});
  std::int64_t gradients = 0;
  for (const Node& node : step.graph.nodes()) {
    if (node.op != Op::Quantize) continue;
    const bool gradient = step.graph[node.outputs[0]].role == Role::gradient;
    gradients += gradient ? 1 : 0;
    EXPECT_EQ(node.attributes.has(Attr::mode), gradient) << node.name;
  }
  EXPECT_EQ(gradients, 1);  // that of X
  // Random numbers for these and for the new weights.
  std::int64_t random = 0;
  for (const Node& node : step.graph.nodes()) {
    random += (*operation_counts(nests_of(site_of(step.graph, node))))[Count::random];
  }
  EXPECT_EQ(random, 64 * 96 + 96 * 96 + 128 * 96);
}

// The huge numbers of a mask must not set the scale of the scores.
TEST(Quantized, MaskedScoresStayInValues) {
  for (const bool written_out : {false, true}) {
    auto forward = build_builtin(written_out ? "gpt2:layers=1,flash=1,vocabulary=64,tokens=32"
                                             : "gpt2:layers=1,flash=0,vocabulary=64,tokens=32");
    ASSERT_TRUE(forward.has_value()) << forward.error().text();
    StepOptions options{.optimizer = {.kind = OptimizerKind::sgd}, .recipe = recipe_of("int8-integer")};
    options.recipe->attention = written_out;
    const auto step = make_training_step({*forward, false, {}, {}}, options);
    ASSERT_TRUE(step.has_value()) << step.error().text();
    EXPECT_TRUE(verify(step->graph).has_value());
    int softmaxes = 0;
    for (const Node& node : step->graph.nodes()) {
      if (node.op != Op::Softmax) continue;
      ++softmaxes;
      const Tensor& scores = step->graph[node.inputs[0]];
      EXPECT_EQ(to_string(scores.type.format), "fp32") << scores.name;
      // What the product leaves is int8.
      TensorId product = node.inputs[0];
      while (step->graph[step->graph[product].producer].op != Op::Quantize) {
        const Node& maker = step->graph[step->graph[product].producer];
        product = maker.inputs[maker.op == Op::Where ? 1 : 0];
      }
      EXPECT_EQ(to_string(step->graph[product].type.format), "int8:e8m0/tensor");
    }
    EXPECT_EQ(softmaxes, 1);
  }
}

// Weights that nothing updates are stored as products read them.
TEST(Quantized, InferenceStoresQuantizedWeights) {
  for (const char* name : {"mxfp4", "mxfp4-square", "fp8-hybrid", "int8-channel"}) {
    const Graph forward = two_linear_layers(64, 96, 128);
    const Recipe recipe = recipe_of(name);
    const auto after = quantized(with_values_of(recipe, forward), recipe);
    ASSERT_TRUE(after.has_value()) << after.error().text();
    EXPECT_TRUE(verify(after->graph).has_value());
    const Tensor& weight = after->graph[tensor_named(after->graph, "W")];
    EXPECT_EQ(weight.type.format.element, recipe.weights->number.format.element);
    EXPECT_EQ(weight.role, Role::weight);
    EXPECT_TRUE(weight.parameter);
    EXPECT_FALSE(weight.producer.valid());
    EXPECT_EQ(parameters_of(after->graph), parameters_of(forward));
    EXPECT_EQ(count(after->graph, Op::Quantize), 2);  // the data and X
    for (const Tensor& tensor : after->graph.tensors()) EXPECT_FALSE(tensor.name.starts_with("W.")) << tensor.name;
    const QuantizedClass& weights = class_named(after->classes, "weights");
    EXPECT_EQ(weights.tensors, 2);
    EXPECT_EQ(weights.copies, 0);
    EXPECT_EQ(weights.elements, 0);
    EXPECT_EQ(weights.bytes, bytes(weight) + bytes(after->graph[tensor_named(after->graph, "W0")]));
  }
}

// A weight that is looked up too stays as it is, with a copy.
TEST(Quantized, InferenceKeepsWeightsThatOthersRead) {
  GraphBuilder builder("tied");
  const TensorId ids = builder.input("ids", {8}, ElementType::int64);
  const TensorId table = builder.parameter("table", {64, 32});
  const TensorId x = builder.add(Op::Gather, "lookup", {table, ids}, {{Attr::axis, std::int64_t{0}}});
  builder.output(builder.add(Op::MatMul, "logits", {x, table},
                             {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{1}}, {Attr::alpha, 1.0}}));
  const auto after = quantized(*builder.finish(), recipe_of("mxfp4"));
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(to_string(after->graph[tensor_named(after->graph, "table")].type.format), "fp32");
  EXPECT_EQ(count(after->graph, Op::Quantize), 2);
}

// Frozen weights of a training step: both copies of vectors are stored, one of them is the parameter.
TEST(Quantized, FrozenWeightsAreStoredQuantized) {
  for (const char* copies : {"stored", "requantized"}) {
    const Recipe recipe = recipe_with(std::string("base: mxfp8\ncopies: ") + copies + "\n");
    StepOptions options{.loss = {.kind = LossKind::mean_squared_error}, .recipe = recipe};
    options.select.freeze = {"W"};
    const auto step = make_training_step({two_linear_layers(64, 96, 128), false, {}, {}}, options);
    ASSERT_TRUE(step.has_value()) << step.error().text();
    EXPECT_TRUE(verify(step->graph).has_value());
    const Tensor& weight = step->graph[tensor_named(step->graph, "W")];
    EXPECT_EQ(to_string(weight.type.format), "fp8e4m3:e8m0/32@-1");
    EXPECT_TRUE(weight.parameter);
    const Tensor& second = step->graph[tensor_named(step->graph, "W.mxfp8_e4m3@0")];
    EXPECT_EQ(to_string(second.type.format), "fp8e4m3:e8m0/32@-2");
    EXPECT_FALSE(second.parameter || second.producer.valid());
    EXPECT_EQ(second.role, Role::weight);
    EXPECT_EQ(parameters_of(step->graph), 96 * 96 + 128 * 96);
    EXPECT_EQ(step->graph[tensor_named(step->graph, "W0")].role, Role::master_weight);
    EXPECT_EQ(maker_of(step->graph, "W0.mxfp8_e4m3@1").op, Op::Quantize);
    const QuantizedClass& weights = class_named(step->formats, "weights");
    EXPECT_EQ(weights.copies, 2);  // of W0, and the second of W
    EXPECT_EQ(weights.elements, 96 * 96);
    EXPECT_EQ(weights.bytes, (96 * 96 + 2 * 128 * 96) * 33 / 32);
  }
}

// What the recipe says of the gradients of weights goes before what it says of sums, and the table says the same.
TEST(Quantized, WeightGradientsAreWhatTheRecipeSays) {
  for (const bool convolves : {false, true}) {
    const TrainingStep step =
        step_in(convolves ? convolutions(32, 1) : two_linear_layers(64, 96, 128),
                recipe_with("base: mxfp8\nvalues: fp32\naccumulators: bf16\nweight_gradients: fp32\n"));
    std::int64_t sum = 0;
    for (const Tensor& tensor : step.graph.tensors()) {
      if (tensor.role != Role::weight_gradient) continue;
      EXPECT_EQ(to_string(tensor.type.format), "fp32") << tensor.name;
      sum += bytes(tensor);
    }
    EXPECT_EQ(class_named(step.formats, "weight gradients").bytes, sum);
    EXPECT_EQ(step.graph[tensor_named(step.graph, convolves ? "c2.out" : "Y.out")].type.format.element,
              ElementType::bfloat16);
  }
}

TEST(Quantized, ResidualBlocksOfIntegersAreFound) {
  auto forward = build_builtin("resnet18");
  ASSERT_TRUE(forward.has_value()) << forward.error().text();
  std::size_t expected = 0;
  for (const char* name : {"fp32", "int8-integer", "mxfp8-square"}) {
    StepOptions options{.optimizer = {.kind = OptimizerKind::sgd}, .recipe = recipe_of(name)};
    const auto step = make_training_step({*forward, false, {}, {}}, options);
    ASSERT_TRUE(step.has_value()) << step.error().text();
    const std::size_t blocks = find_blocks(step->graph).size();
    if (expected == 0) expected = blocks;
    EXPECT_GT(blocks, 0U);
    EXPECT_EQ(blocks, expected) << name;
  }
}

TEST(Quantized, StatesOfTheOptimizer) {
  const TrainingStep step =
      step_in(two_linear_layers(64, 96, 128),
              recipe_with("values: fp32\noptimizer_state: bf16\nweight_gradients: bf16\nmaster: bf16\n"));
  const auto element = [&](const std::string& name) {
    return step.graph[tensor_named(step.graph, name)].type.format.element;
  };
  for (const char* name : {"W.m", "W.m.new", "W.v", "W.v.new", "W.grad", "W", "W.new"}) {
    EXPECT_EQ(element(name), ElementType::bfloat16) << name;
  }
  EXPECT_EQ(class_named(step.formats, "optimizer state").tensors, 4);
  EXPECT_EQ(class_named(step.formats, "optimizer state").bytes, 2 * 2 * (96 * 96 + 128 * 96));
}

// Recomputation, low-rank additions and micro-batches work on quantized steps.
TEST(Quantized, CanBeRecomputed) {
  for (const char* name : {"mxfp8", "mxfp8-square", "fp8-hybrid", "int8-integer", "tf32"}) {
    TrainingStep step =
        step_in(two_linear_layers(64, 96, 128), recipe_of(name), {.kind = OptimizerKind::momentum, .micro_batches = 2});
    std::vector<TensorId> again;
    for (const SavedCandidate& saved : saved_candidates(step.graph)) {
      if (saved.reason.empty()) again.push_back(saved.tensor);
    }
    ASSERT_GE(again.size(), 1U) << name;
    const auto after = recompute(std::move(step), again);
    ASSERT_TRUE(after.has_value()) << name << ": " << after.error().text();
    const Status status = verify(after->step.graph);
    EXPECT_TRUE(status.has_value()) << name << ": " << (status ? "" : status.error().text());
  }
  auto forward = build_builtin("mlp-robotics");
  ASSERT_TRUE(forward.has_value());
  const auto lora = make_training_step({*forward, false, {}, {}},
                                       {.lora = LoraOptions{.rank = 8, .alpha = 8}, .recipe = recipe_of("mxfp4")});
  ASSERT_TRUE(lora.has_value()) << lora.error().text();
  EXPECT_TRUE(verify(lora->graph).has_value());
}

}  // namespace
}  // namespace monet::training
