// Can a step be drawn: has every node a place of its own, do the parts run where they should, are decisions there?
#include "evaluate/run/step_graph.h"

#include "evaluate/run/step_graph_layout.h"
#include "graph/builder.h"
#include "support/random_network.h"
#include "training/recompute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace monet {
namespace {

using namespace test;
using testing::ElementsAre;

enum class Side { forward, again, backward, optimizer };

Side side_of(const Node& node) {
  if (node.phase == Phase::forward) return Side::forward;
  if (node.phase == Phase::optimizer) return Side::optimizer;
  return node.recomputed ? Side::again : Side::backward;
}

// No two at one place, bands beside each other, edges in their direction.
void expect_drawable(const Graph& graph, const std::vector<NodePlace>& places, const std::string& which) {
  ASSERT_EQ(places.size(), graph.nodes().size()) << which;
  std::set<std::pair<std::int64_t, std::int64_t>> taken;
  std::map<Side, std::pair<std::int64_t, std::int64_t>> bands;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto [x, y] = places[i];
    ASSERT_TRUE(taken.emplace(x, y).second) << which << ": " << graph.nodes()[i].name;
    ASSERT_TRUE(x >= 0 && y >= 0) << which;
    const auto band = bands.try_emplace(side_of(graph.nodes()[i]), x, x).first;
    band->second = {std::min(band->second.first, x), std::max(band->second.second, x)};
    for (const TensorId id : graph.nodes()[i].inputs) {
      if (!id.valid() || !graph[id].producer.valid()) continue;
      const std::size_t maker = graph[id].producer.index();
      const Side from = side_of(graph.nodes()[maker]), to = side_of(graph.nodes()[i]);
      if (from == Side::forward && to == Side::forward) {
        ASSERT_LT(places[maker].y, y) << which << ": " << graph.nodes()[i].name;
      } else if (from == Side::backward && to == Side::backward) {
        ASSERT_GT(places[maker].y, y) << which << ": " << graph.nodes()[i].name;
      }
    }
  }
  std::int64_t right = -1;
  for (const auto& [side, band] : bands) {
    ASSERT_GT(band.first, right) << which;
    right = band.second;
  }
}

Graph long_chain(int operators) {
  GraphBuilder b("chain");
  TensorId x = b.input("x", {4, 4});
  for (int i = 0; i < operators; ++i) x = b.add(Op::Relu, "op" + std::to_string(i), {x});
  b.output(x);
  auto graph = b.finish();
  EXPECT_TRUE(graph.has_value());
  return *std::move(graph);
}

TEST(StepGraphLayout, AChainIsStraight) {
  const auto places = node_places(long_chain(5000));
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_EQ(places[i].x, 0);
    ASSERT_EQ(places[i].y, static_cast<std::int64_t>(i));
  }
}

// A residual block: the long way stays in its column, what leads around it lies beside.
TEST(StepGraphLayout, TheLongWayStaysStraight) {
  GraphBuilder b("residual");
  TensorId x = b.add(Op::Relu, "first", {b.input("x", {4, 4})});
  const TensorId around = b.add(Op::Neg, "around", {x});
  TensorId y = x;
  for (int i = 0; i < 3; ++i) y = b.add(Op::Relu, "long" + std::to_string(i), {y});
  b.output(b.add(Op::Relu, "last", {b.add(Op::Add, "add", {y, around})}));
  const auto graph = b.finish();
  ASSERT_TRUE(graph.has_value());
  const auto places = node_places(*graph);
  expect_drawable(*graph, places, "residual");
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i].x, graph->nodes()[i].name == "around" ? 1 : 0);
}

TEST(StepGraphLayout, AGradientLiesBesideWhatItDifferentiates) {
  GraphBuilder b("two");
  TensorId x = b.input("x", {4, 8});
  x = b.add(Op::Relu, "relu1", {networks::fully_connected(b, "fc1", x, 8)});
  b.output(networks::fully_connected(b, "fc2", x, 8));
  auto forward = b.finish();
  ASSERT_TRUE(forward.has_value());
  const auto step = training::make_training_step({*std::move(forward), false, {}, {}},
                                                 {.loss = {.kind = training::LossKind::mean_squared_error}});
  ASSERT_TRUE(step.has_value()) << step.error().text();
  const Graph& graph = step->graph;
  const auto places = node_places(graph);
  expect_drawable(graph, places, "two");
  std::map<std::string, std::int64_t> forward_row;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.phase == Phase::forward) forward_row[node.name] = places[i].y;
    // Whatever reads the gradient of a weight lies where that is made.
    if (node.phase != Phase::optimizer) continue;
    for (const TensorId id : node.inputs) {
      if (!id.valid() || graph[id].role != Role::weight_gradient || !graph[id].producer.valid()) continue;
      if (graph[graph[id].producer].phase == Phase::backward) {
        EXPECT_EQ(places[i].y, places[graph[id].producer.index()].y);
      }
    }
  }
  // The weight of the second layer: read by it, and by the gradient of its input.
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.phase != Phase::backward) continue;
    for (const TensorId id : node.inputs) {
      if (!id.valid() || graph[id].name != "fc2.weight") continue;
      EXPECT_GE(places[i].y, forward_row.at("relu1"));
    }
  }
}

TEST(StepGraphLayout, RandomSteps) {
  std::size_t steps = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto graph = random_step(random);
    if (!graph) continue;
    ++steps;
    ASSERT_NO_FATAL_FAILURE(expect_drawable(*graph, node_places(*graph), std::to_string(seed)));
    std::vector<TensorId> saved;
    for (const training::SavedCandidate& candidate : training::saved_candidates(*graph)) {
      if (candidate.reason.empty() && random.chance(0.5)) saved.push_back(candidate.tensor);
    }
    if (saved.empty()) continue;
    const auto again = training::recompute(*graph, saved);
    ASSERT_TRUE(again.has_value());
    ASSERT_NO_FATAL_FAILURE(expect_drawable(again->graph, node_places(again->graph), std::to_string(seed) + " again"));
  }
  EXPECT_GT(steps, 150U);
}

TEST(StepGraphLayout, Nothing) { EXPECT_TRUE(node_places(Graph()).empty()); }

StepRequest raspberry_pi_options() {
  StepRequest options;
  options.machine = "raspberry_pi_4";
  options.compare = false;
  options.pack = false;
  options.graph = true;
  return options;
}

StepGraph graph_of(const StepRequest& options) {
  const auto evaluation = evaluate_network("mlp-robotics", options);
  EXPECT_TRUE(evaluation.has_value()) << (evaluation ? "" : evaluation.error().text());
  if (!evaluation) return {};
  const StepGraph& graph = evaluation->graph;
  EXPECT_EQ(static_cast<std::int64_t>(graph.nodes.size()), evaluation->nodes);
  for (const StepGraph::Node& node : graph.nodes) {
    EXPECT_EQ(node.operator_row < 0, node.stack < 0) << node.name;
    if (node.operator_row < 0) continue;
    const OperatorResult& row = evaluation->operators[static_cast<std::size_t>(node.operator_row)];
    EXPECT_EQ(row.name, node.name);
    EXPECT_EQ(row.stack, std::to_string(node.stack));
    EXPECT_EQ(row.recomputed, node.recomputed);
  }
  for (const StepGraph::Tensor& tensor : graph.tensors) EXPECT_TRUE(tensor.from >= 0 || !tensor.to.empty());
  return graph;
}

std::map<std::string, std::int64_t> decisions(const StepGraph& graph) {
  std::map<std::string, std::int64_t> counts;
  for (const StepGraph::Tensor& tensor : graph.tensors) {
    if (tensor.saved) ++counts[tensor.decision];
    EXPECT_EQ(tensor.saved && tensor.decision.empty(), false) << tensor.name;
  }
  return counts;
}

TEST(StepGraph, OnlyWhereItIsWanted) {
  StepRequest options = raspberry_pi_options();
  options.graph = false;
  const auto evaluation = evaluate_network("mlp-robotics", options);
  ASSERT_TRUE(evaluation.has_value());
  EXPECT_TRUE(evaluation->graph.nodes.empty() && evaluation->graph.tensors.empty());
}

TEST(StepGraph, WhatIsKeptRecomputedAndPaged) {
  StepRequest options = raspberry_pi_options();
  const StepGraph kept = graph_of(options);
  const std::map<std::string, std::int64_t> all = decisions(kept);
  ASSERT_EQ(all.size(), 1U);
  const std::int64_t count = all.at("kept");
  EXPECT_GT(count, 2);
  // Each is made forward, and read backward by itself or through a view.
  for (const StepGraph::Tensor& tensor : kept.tensors) {
    if (tensor.saved) {
      EXPECT_EQ(kept.nodes[static_cast<std::size_t>(tensor.from)].phase, "forward") << tensor.name;
    }
  }
  options.recompute = {"*"};
  const StepGraph again = graph_of(options);
  EXPECT_EQ(decisions(again), (std::map<std::string, std::int64_t>{{"recomputed", count}}));
  EXPECT_TRUE(std::ranges::any_of(again.nodes, &StepGraph::Node::recomputed));
  options.recompute.clear();
  options.page = {{"*", "sd_card"}};
  EXPECT_EQ(decisions(graph_of(options)), (std::map<std::string, std::int64_t>{{"paged to sd_card", count}}));
}

TEST(StepGraph, WeightsMayBePagedWithoutBeingSaved) {
  StepRequest options = raspberry_pi_options();
  options.page = {{"weights", "sd_card"}};
  for (const StepGraph::Tensor& tensor : graph_of(options).tensors) {
    const bool weight = tensor.role == "weight" && tensor.from < 0;
    EXPECT_EQ(tensor.decision, weight ? "paged to sd_card" : tensor.saved ? "kept" : "") << tensor.name;
  }
}

TEST(StepGraph, ShapesInWords) {
  const StepGraph graph = graph_of(raspberry_pi_options());
  const auto input = std::ranges::find(graph.tensors, "input", &StepGraph::Tensor::role);
  ASSERT_NE(input, graph.tensors.end());
  EXPECT_THAT(input->shape, testing::MatchesRegex("[0-9]+(x[0-9]+)* fp32"));
  EXPECT_EQ(input->from, -1);
}

}  // namespace
}  // namespace monet
