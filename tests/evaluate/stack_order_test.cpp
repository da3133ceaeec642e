// Can stacks run in the order that is found, and is there really none where none is found? Against brute force.
#include "evaluate/plan/stack_order.h"

#include "networks/builtin.h"
#include "support/random_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

namespace monet {
namespace {

bool is_view(const Graph& graph, NodeId id) { return family_of(graph[id].op) == OpFamily::view; }

// Pairs (before, after) of operators, by walking each input back through views.
std::set<std::pair<NodeId, NodeId>> pairs_of(const Graph& graph) {
  std::set<std::pair<NodeId, NodeId>> pairs;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const NodeId node(i);
    if (is_view(graph, node)) continue;
    const std::function<void(TensorId)> walk = [&](TensorId id) {
      const NodeId producer = graph[id].producer;
      if (producer.valid() && is_view(graph, producer)) {
        for (TensorId from : graph[producer].inputs) walk(from);
        return;
      }
      if (producer.valid()) pairs.emplace(producer, node);
      for (const Tensor& tensor : graph.tensors()) {
        if (tensor.updates == id && tensor.producer != node) pairs.emplace(node, tensor.producer);
      }
    };
    for (TensorId id : graph[node].inputs) {
      if (id.valid()) walk(id);
    }
  }
  return pairs;
}

// Whether the units, contracted, have a ring: by the transitive closure.
bool has_ring(const std::vector<std::pair<std::size_t, std::size_t>>& edges, std::size_t units) {
  std::vector<std::vector<bool>> reach(units, std::vector<bool>(units, false));
  for (const auto& [from, to] : edges) reach[from][to] = true;
  for (std::size_t k = 0; k < units; ++k) {
    for (std::size_t i = 0; i < units; ++i) {
      for (std::size_t j = 0; reach[i][k] && j < units; ++j) {
        if (reach[k][j]) reach[i][j] = true;
      }
    }
  }
  for (std::size_t i = 0; i < units; ++i) {
    if (reach[i][i]) return true;
  }
  return false;
}

// Stacks of operators that lie near each other.
std::vector<StackNodes> random_stacks(const Graph& graph, std::mt19937& random) {
  std::vector<StackNodes> stacks(1 + random() % 8);
  const std::size_t spread = 2 + random() % 10;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (is_view(graph, NodeId(i)) || random() % 4 == 0) continue;
    const std::size_t stack = i / spread + (random() % 6 == 0 ? 1 : 0);
    if (stack < stacks.size()) stacks[stack].nodes.push_back(NodeId(i));
  }
  std::erase_if(stacks, [](const StackNodes& stack) { return stack.nodes.empty(); });
  std::ranges::shuffle(stacks, random);
  return stacks;
}

void compare(const Graph& graph, const std::vector<StackNodes>& stacks, bool listed, int& rings, int& orders) {
  const auto pairs = pairs_of(graph);
  std::vector<std::size_t> unit(graph.nodes().size());
  for (std::size_t i = 0; i < unit.size(); ++i) unit[i] = stacks.size() + i;
  for (std::size_t s = 0; s < stacks.size(); ++s) {
    for (NodeId node : stacks[s].nodes) unit[node.index()] = s;
  }
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (const auto& [before, after] : pairs) {
    if (unit[before.index()] != unit[after.index()]) edges.emplace_back(unit[before.index()], unit[after.index()]);
  }
  for (std::size_t s = 1; listed && s < stacks.size(); ++s) edges.emplace_back(s - 1, s);
  const bool ring = has_ring(edges, stacks.size() + graph.nodes().size());
  const auto order = run_order(graph, Dependencies(graph), stacks, listed);
  ASSERT_EQ(order.has_value(), !ring) << (order ? "" : order.error().text());
  (ring ? rings : orders)++;
  if (ring) {
    EXPECT_EQ(order.error().kind, ErrorKind::user);
    return;
  }
  std::vector<std::size_t> at(graph.nodes().size(), 0);
  std::size_t count = 0;
  for (std::size_t i = 0; i < order->size(); ++i) {
    EXPECT_TRUE(std::ranges::is_sorted((*order)[i]));
    for (NodeId node : (*order)[i]) {
      EXPECT_EQ(at[node.index()], 0U);
      at[node.index()] = i + 1;
      ++count;
    }
  }
  for (std::size_t i = 0; i < at.size(); ++i) count -= is_view(graph, NodeId(i)) ? 0 : 1;
  EXPECT_EQ(count, 0U);
  for (const auto& [before, after] : pairs) EXPECT_LE(at[before.index()], at[after.index()]);
  for (const StackNodes& stack : stacks) {
    for (NodeId node : stack.nodes) EXPECT_EQ(at[node.index()], at[stack.nodes.front().index()]);
  }
}

TEST(StackOrder, AgreesWithBruteForceOnRandomSteps) {
  int rings = 0;
  int orders = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const auto graph = seed % 2 == 0 ? test::RandomGraph(seed).make() : test::random_step(seed);
    if (!graph) continue;  // without parameters
    std::mt19937 random(seed);
    for (int i = 0; i < 10; ++i) compare(*graph, random_stacks(*graph, random), i % 3 == 0, rings, orders);
  }
  EXPECT_GE(rings, 100);
  EXPECT_GE(orders, 100);
}

// What replaces a weight must come after all that read it.
TEST(StackOrder, ReadersComeBeforeWhatReplacesAWeight) {
  const auto forward = build_builtin("mlp-robotics");
  ASSERT_TRUE(forward.has_value());
  const auto step = training::make_training_step({*forward, false, {}, {}},
                                                 {.loss = {.kind = training::LossKind::mean_squared_error}});
  ASSERT_TRUE(step.has_value());
  const Graph& graph = step->graph;
  const Dependencies dependencies(graph);
  for (const Tensor& tensor : graph.tensors()) {
    if (!tensor.updates.valid()) continue;
    const auto before = dependencies.before(tensor.producer);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.nodes()[i];
      if (is_view(graph, NodeId(i)) || NodeId(i) == tensor.producer) continue;
      if (std::ranges::find(node.inputs, tensor.updates) == node.inputs.end()) continue;
      EXPECT_NE(std::ranges::find(before, NodeId(i)), before.end()) << node.name;
    }
  }
}

}  // namespace
}  // namespace monet
