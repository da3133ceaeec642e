// Every recipe on random networks: the graph is sound, and without rounding it computes what it did before.
#include "graph/verify.h"
#include "interpret/interpret.h"
#include "support/random_network.h"
#include "support/random_values.h"
#include "training/quantized.h"
#include "training/step.h"

#include <monet/simulate.h>

#include <gtest/gtest.h>

#include <map>

namespace monet::training {
namespace {

using test::Random;
using test::RandomNetwork;

// The same graph in real numbers.
Graph unrounded(Graph graph) {
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    Format& format = graph[TensorId(i)].type.format;
    if (format.is_real()) format = {.element = ElementType::float64};
  }
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    Node& node = graph[NodeId(i)];
    if (node.op != Op::Quantize && node.op != Op::Cast) continue;
    node.op = Op::Identity;
    node.attributes = {};
  }
  return graph;
}

// By name: what the step gives to the outside and to the next step.
std::map<std::string, std::vector<double>> results(const Graph& step) {
  const Graph graph = unrounded(step);
  Values values = test::random_values(graph, 7);
  const Status status = run(graph, values);
  EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().text());
  std::map<std::string, std::vector<double>> result;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    const bool leaves = tensor.updates.valid() || tensor.role == Role::weight_gradient ||
                        std::ranges::find(graph.outputs, TensorId(i)) != graph.outputs.end();
    if (tensor.producer.valid() && leaves) result[tensor.name] = values.at(TensorId(i)).values;
  }
  return result;
}

Expected<TrainingStep> random_step_in(std::uint64_t seed, const Recipe& recipe) {
  Random random(seed);
  MONET_TRY(Graph forward, RandomNetwork(random).make());
  StepOptions options{.loss = {.kind = LossKind::mean_squared_error}, .recipe = recipe};
  options.optimizer.kind = random.one_of<OptimizerKind>({OptimizerKind::sgd, OptimizerKind::momentum});
  options.optimizer.elementwise = random.chance(0.2);
  if (random.chance(0.3)) options.conv_gradient = ConvGradient::im2col;
  return make_training_step({std::move(forward), false, {}, {}}, options);
}

TEST(QuantizedRandom, SoundAndTheSameValuesWithoutRounding) {
  std::map<std::string, int> quantized_steps;
  for (const std::string& name : recipe_names()) {
    auto recipe = read_recipe(name);
    ASSERT_TRUE(recipe.has_value());
    if (!recipe->quantizes()) continue;
    Recipe plain;
    plain.values = recipe->values;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      if (seed % 3 == 1) recipe->copies = Copies::requantized;
      if (seed % 4 == 2) recipe->attention = plain.attention = true;
      const auto before = random_step_in(seed, plain);
      const auto after = random_step_in(seed, *recipe);
      ASSERT_TRUE(before.has_value() && after.has_value()) << name << seed;
      const Status status = verify(after->graph);
      ASSERT_TRUE(status.has_value()) << name << " " << seed << ": " << status.error().text();
      quantized_steps[name] += static_cast<int>(std::ranges::count(after->graph.nodes(), Op::Quantize, &Node::op) > 0);
      const auto expected = results(before->graph);
      const auto actual = results(after->graph);
      for (const auto& [tensor, values] : expected) {
        ASSERT_TRUE(actual.contains(tensor)) << name << " " << seed << ": " << tensor;
        EXPECT_EQ(actual.at(tensor), values) << name << " " << seed << ": " << tensor;
      }
      EXPECT_EQ(before->trained.size(), after->trained.size());
    }
  }
  for (const auto& [name, count] : quantized_steps) EXPECT_GE(count, 8) << name;
}

// Frozen weights that are stored quantized are simulated with the values that their copies would have, in both
// directions: the first loss is that of a step that quantizes them, and the first layer learns through the others.
TEST(QuantizedRandom, FrozenWeightsHaveTheirValuesInSimulations) {
  SimulateOptions options{.steps = 30, .samples = 320, .jobs = 1};
  options.train.batch = 32;
  const auto trained = simulate("mlp-robotics", {"mxfp8", "mxfp4-square"}, options);
  options.train.freeze = {"layers.1.*", "layers.2.*", "layers.3.*"};
  const auto frozen = simulate("mlp-robotics", {"mxfp8", "mxfp4-square"}, options);
  ASSERT_TRUE(trained.has_value() && frozen.has_value()) << (frozen ? "" : frozen.error().text());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*frozen)[i].losses.front(), (*trained)[i].losses.front());
    EXPECT_EQ((*frozen)[i].measured.front().loss, (*trained)[i].measured.front().loss);
    EXPECT_LT((*frozen)[i].measured.back().loss, 0.95 * (*frozen)[i].measured.front().loss);
  }
}

// The names that were there before mean what they meant.
TEST(QuantizedRandom, PlainRecipesAreConversionsAlone) {
  for (const char* name : {"fp32", "bf16", "fp16", "mixed", "mixed-fp16"}) {
    const auto recipe = read_recipe(name);
    ASSERT_TRUE(recipe.has_value());
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto step = random_step_in(seed, *recipe);
      ASSERT_TRUE(step.has_value());
      EXPECT_TRUE(step->formats.empty());
      EXPECT_EQ(std::ranges::count(step->graph.nodes(), Op::Quantize, &Node::op), 0);
    }
  }
}

}  // namespace
}  // namespace monet::training
