// Do the rules hold together on random graphs: types, loops, counts, renumbering?
#include "support/random_graph.h"
#include "graph/compact.h"
#include "graph/nest_walk.h"
#include "graph/verify.h"
#include "support/same_values.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

constexpr unsigned graphs = 150;

Graph random_graph(unsigned seed) {
  auto graph = test::RandomGraph(seed).make();
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  return graph ? *std::move(graph) : Graph{};
}

Sample sample_of(const Graph& graph, const Node& node) {
  Sample sample{node.op, node.attributes, {}, {}};
  for (TensorId id : node.inputs) sample.inputs.push_back(graph[id].type);
  for (TensorId id : node.outputs) sample.outputs.push_back(graph[id].type);
  return sample;
}

TEST(RandomGraphs, AreVerified) {
  for (unsigned seed = 0; seed < graphs; ++seed) {
    const Status status = verify(random_graph(seed));
    ASSERT_TRUE(status.has_value()) << seed << ": " << status.error().text();
  }
}

TEST(RandomGraphs, LoopsTouchOnlyWhatIsThere) {
  for (unsigned seed = 0; seed < graphs; ++seed) {
    const Graph graph = random_graph(seed);
    for (const Node& node : graph.nodes()) {
      SCOPED_TRACE(node.name);
      expect_inside(sample_of(graph, node), [](const Access&) { return false; });
    }
  }
}

TEST(RandomGraphs, MacsAreTheClosedFormulas) {
  for (unsigned seed = 0; seed < graphs; ++seed) {
    const Graph graph = random_graph(seed);
    for (const Node& node : graph.nodes()) {
      const auto counts = operation_counts(nests_of(site_of(graph, node)));
      ASSERT_TRUE(counts.has_value());
      const std::int64_t outputs = element_count(graph[node.outputs[0]].type.shape);
      const bool product = node.op == Op::MatMul;
      const std::int64_t depth = product ? graph[node.inputs[0]].type.shape.back() : 0;
      EXPECT_EQ((*counts)[Count::mac], outputs * depth) << name_of(node.op);
      EXPECT_TRUE(family_of(node.op) != OpFamily::view || *counts == Counts{}) << name_of(node.op);
    }
  }
}

TEST(RandomGraphs, CompactingKeepsTheMeaning) {
  for (unsigned seed = 0; seed < graphs; ++seed) {
    const Graph graph = random_graph(seed);
    // Tensors that nothing refers to, in between.
    Graph littered;
    littered.name = graph.name;
    std::vector<TensorId> moved;
    for (const Tensor& tensor : graph.tensors()) {
      littered.add_tensor({.name = "unused " + tensor.name, .type = tensor.type});
      moved.push_back(littered.add_tensor(tensor));
    }
    const auto renumber = [&](std::vector<TensorId> ids) {
      for (TensorId& id : ids) id = moved[id.index()];
      return ids;
    };
    littered.inputs = renumber(graph.inputs);
    littered.outputs = renumber(graph.outputs);
    std::vector<Node> nodes = graph.nodes();
    for (Node& node : nodes) {
      node.inputs = renumber(node.inputs);
      node.outputs = renumber(node.outputs);
    }
    littered.set_nodes(std::move(nodes));
    ASSERT_TRUE(verify(littered).has_value());

    std::vector<TensorId> renumbered;
    const Graph compacted = compact(littered, &renumbered);
    ASSERT_TRUE(verify(compacted).has_value());
    ASSERT_EQ(renumbered.size(), littered.tensors().size());
    for (std::size_t i = 0; i < renumbered.size(); ++i) {
      ASSERT_TRUE(!renumbered[i].valid() || compacted[renumbered[i]].name == littered.tensors()[i].name);
      ASSERT_TRUE(i % 2 == 1 || !renumbered[i].valid());
    }
    test::expect_same_values(graph, compacted, seed, 0);
  }
}

TEST(Compact, KeepsWhatAnUpdateReplaces) {
  GraphBuilder builder("test");
  const TensorId x = builder.input("x", {3});
  const TensorId state = builder.statistic("state", {3});
  const TensorId unused = builder.statistic("unused", {3});
  const TensorId next = builder.add(Op::Relu, "next", {x});
  builder.update(state, next);
  std::vector<TensorId> renumbered;
  const Graph graph = compact(*builder.finish(), &renumbered);
  EXPECT_FALSE(renumbered[unused.index()].valid());
  ASSERT_TRUE(renumbered[state.index()].valid());
  EXPECT_EQ(graph[renumbered[next.index()]].updates, renumbered[state.index()]);
  EXPECT_TRUE(verify(graph).has_value());
}

TEST(Compact, KeepsValuesOfConstantsThatAreRead) {
  GraphBuilder builder("test");
  builder.constant("unread", Constant::reals(ElementType::float32, {1}, {1}));
  const TensorId read = builder.constant("read", Constant::reals(ElementType::float32, {1}, {2}));
  builder.output(builder.add(Op::Relu, "relu", {read}));
  const Graph graph = compact(*builder.finish());
  ASSERT_EQ(graph.constants.size(), 1);
  EXPECT_EQ(graph.constants.begin()->second.real_at(0), 2);
}

}  // namespace
}  // namespace monet
