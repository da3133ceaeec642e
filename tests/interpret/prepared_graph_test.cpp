// Does a graph that was made ready give the same values as a plain run, and keep no more than it must?
#include "interpret/prepared_graph.h"

#include "networks/layers.h"
#include "support/expect_error.h"
#include "support/values.h"
#include "training/step.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace monet {
namespace {

using training::make_training_step;

Graph step_of_a_perceptron() {
  GraphBuilder builder("mlp");
  TensorId x = builder.input("x", {6, 5});
  x = builder.add(Op::Tanh, "act", {networks::fully_connected(builder, "0", x, 8)});
  const Graph forward = *networks::finish(builder, networks::fully_connected(builder, "1", x, 3), "scores");
  auto step = make_training_step({forward, false, {}, {}}, {});
  EXPECT_TRUE(step.has_value());
  return std::move(step->graph);
}

Values values_from_outside(const Graph& graph) {
  Values values;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    if (tensor.producer.valid() || graph.constant(TensorId(i)) != nullptr) continue;
    Array array = test::waves(tensor.type.shape, static_cast<double>(i), 0.5);
    for (double& value : array.values) {
      value = tensor.role == Role::optimizer_state ? value * value : value;
      if (tensor.name == "target" || tensor.name == "step") value = 1;
    }
    values.emplace(TensorId(i), std::move(array));
  }
  return values;
}

TEST(PreparedGraph, GivesTheValuesOfAPlainRunRoundedOrNot) {
  const Graph graph = step_of_a_perceptron();
  std::vector<TensorId> kept;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    if (graph.tensors()[i].updates.valid()) kept.emplace_back(i);
  }
  ASSERT_FALSE(kept.empty());
  const auto program = PreparedGraph::prepare(graph, kept);
  ASSERT_TRUE(program.has_value());
  for (const bool rounds : {false, true}) {
    Values expected = values_from_outside(graph);
    std::vector<Array> values(graph.tensors().size());
    for (const auto& [id, value] : expected) values[id.index()] = value;
    for (int times = 0; times < 2; ++times) {  // what came from outside is still there
      ASSERT_TRUE(program->run(values, {.rounds = rounds, .seed = 5}).has_value());
    }
    ASSERT_TRUE(run(graph, expected, {.rounds = rounds, .seed = 5}).has_value());
    for (TensorId id : kept) EXPECT_EQ(values[id.index()].values, expected.at(id).values) << graph[id].name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!graph.tensors()[i].producer.valid() || std::ranges::find(kept, TensorId(i)) != kept.end()) continue;
      EXPECT_TRUE(values[i].values.empty()) << graph.tensors()[i].name;
    }
  }
}

TEST(PreparedGraph, KnowsHowMuchExistsAtAMoment) {
  GraphBuilder builder("chain");
  TensorId x = builder.input("x", {10});
  for (int i = 0; i < 5; ++i) x = builder.add(Op::Relu, "relu", {x});
  builder.output(x);
  const Graph graph = *builder.finish();
  const auto program = PreparedGraph::prepare(graph, {x});
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->elements(), 50);
  EXPECT_EQ(program->peak_elements(), 30);  // the input, what a node reads and what it makes
}

TEST(PreparedGraph, SaysWhichValueIsMissing) {
  GraphBuilder builder("one");
  const TensorId x = builder.input("x", {10});
  builder.output(builder.add(Op::Relu, "relu", {x}));
  const auto program = PreparedGraph::prepare(*builder.finish(), {});
  ASSERT_TRUE(program.has_value());
  std::vector<Array> values(2);
  const Status status = program->run(values, {});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message, "no value is given for this tensor");
  EXPECT_EQ(status.error().place, "x");
}

}  // namespace
}  // namespace monet
