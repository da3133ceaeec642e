// Does a small network really train in the executor: the loss falls as PyTorch's does, step by step?
#include "interpret/interpret.h"
#include "networks/layers.h"
#include "support/source_folder.h"
#include "support/values.h"
#include "training/step.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace monet::training {
namespace {

using test::starting_value;
using test::waves;

Graph mlp() {
  GraphBuilder builder("mlp");
  TensorId x = builder.input("x", {10, 6});
  x = networks::fully_connected(builder, "0", x, 12);
  x = builder.add(Op::Tanh, "1", {x});
  return *networks::finish(builder, networks::fully_connected(builder, "2", x, 5), "scores");
}

Graph convolutional() {
  GraphBuilder builder("convolutional");
  TensorId x = builder.input("x", {10, 2, 6, 6});
  x = networks::convolution(builder, "0", x, {.channels = 6, .kernel = 3, .bias = true});
  x = networks::relu(builder, "2", networks::batch_norm(builder, "1", x));
  x = networks::max_pool(builder, "3", x, 2, 2, 0);
  x = builder.add(Op::Reshape, "4", {x}, {{Attr::shape, Shape{10, 54}}});
  return *networks::finish(builder, networks::fully_connected(builder, "5", x, 5), "scores");
}

// Runs the step again and again: what replaces a tensor is its value in the next run.
std::vector<double> losses_of(Graph network, const OptimizerOptions& optimizer, double learning_rate, int steps) {
  const auto step = make_training_step({std::move(network), false, {}, {}}, {.optimizer = optimizer});
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  if (!step) return {};
  const Graph& graph = step->graph;
  Values kept;
  double parameters = 0;
  std::vector<double> losses;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    const TensorId id(i);
    if (tensor.producer.valid() || graph.constant(id) != nullptr) continue;
    if (tensor.parameter) {
      kept.emplace(id, starting_value(tensor, parameters++));
    } else if (tensor.name == "x") {
      kept.emplace(id, waves(tensor.type.shape, 100, 1));
    } else {
      kept.emplace(id, Array::zeros(tensor.type.shape));
    }
    Array& value = kept.at(id);
    if (tensor.name == "learning_rate") value.values[0] = learning_rate;
    if (tensor.name != "target") continue;
    for (std::size_t n = 0; n < value.values.size(); ++n) value.values[n] = static_cast<double>(n % 5);
  }
  for (int count = 1; count <= steps; ++count) {
    Values values = kept;
    for (auto& [id, value] : values) {
      if (graph[id].name == "step") value.values[0] = count;
    }
    const auto status = run(graph, values);
    EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().text());
    losses.push_back(values.at(step->loss).values[0]);
    for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
      const TensorId replaced = graph.tensors()[i].updates;
      if (replaced.valid()) kept.at(replaced) = values.at(TensorId(i));
    }
  }
  return losses;
}

nlohmann::json expected_curves() {
  std::ifstream file(test::source_folder() / "tests/training/expected/training_curve.json");
  return nlohmann::json::parse(file);
}

void expect_curve(const std::string& name, Graph network, const OptimizerOptions& optimizer, double learning_rate) {
  const nlohmann::json expected = expected_curves()[name];
  const std::vector<double> losses =
      losses_of(std::move(network), optimizer, learning_rate, static_cast<int>(expected.size()));
  ASSERT_EQ(losses.size(), 50U);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    EXPECT_NEAR(losses[i], expected[i].get<double>(), 1e-6 * losses[0]) << name << ", step " << i + 1;
  }
  EXPECT_LT(losses.back(), 0.5 * losses.front());
}

TEST(TrainingCurve, OfAPerceptronIsPyTorchs) {
  expect_curve("mlp adam", mlp(), {.kind = OptimizerKind::adam}, 0.01);
  expect_curve("mlp sgd", mlp(), {.kind = OptimizerKind::sgd}, 0.2);
}

TEST(TrainingCurve, OfAConvolutionalNetworkIsPyTorchs) {
  expect_curve("convolutional adamw", convolutional(), {.kind = OptimizerKind::adamw}, 0.01);
  expect_curve("convolutional momentum", convolutional(), {.kind = OptimizerKind::momentum}, 0.05);
}

}  // namespace
}  // namespace monet::training
