// Is every broken rule found, and named?
#include "graph/verify.h"

#include "graph/builder.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using Integers = std::vector<std::int64_t>;

// relu(x) + c with a known constant c
Graph sound() {
  GraphBuilder builder("test");
  const TensorId x = builder.input("x", {2, 3});
  const TensorId c = builder.constant("c", Constant::reals(ElementType::float32, {3}, {1, 2, 3}));
  const TensorId r = builder.add(Op::Relu, "relu", {x});
  builder.output(builder.add(Op::Add, "add", {r, c}));
  return *builder.finish();
}

void expect_violation(const Graph& graph, const std::string& message, const std::string& place) {
  const Status status = verify(graph);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::defect);
  EXPECT_NE(status.error().message.find(message), std::string::npos) << status.error().text();
  EXPECT_NE(status.error().place.find(place), std::string::npos) << status.error().text();
}

TEST(Verify, ASoundGraphPasses) { EXPECT_TRUE(verify(sound()).has_value()); }
TEST(Verify, AnEmptyGraphPasses) { EXPECT_TRUE(verify(Graph{}).has_value()); }

TEST(Verify, TwoTensorsOfOneName) {
  Graph graph = sound();
  graph[TensorId(1)].name = "x";
  expect_violation(graph, "two tensors have this name", "x");
}

TEST(Verify, TwoNodesOfOneName) {
  Graph graph = sound();
  graph[NodeId(1)].name = "relu";
  expect_violation(graph, "two nodes have this name", "relu");
}

TEST(Verify, UpdateOfAnotherType) {
  Graph graph = sound();
  graph[graph.outputs[0]].updates = TensorId(1);
  expect_violation(graph, "replaces a tensor of another type", graph[graph.outputs[0]].name);
  graph[graph.outputs[0]].updates = TensorId(0);
  EXPECT_TRUE(verify(graph).has_value());
}

// w is read by `first` and `second`; `first` makes the value that takes its place.
Graph updated(bool read_afterwards) {
  GraphBuilder builder("updated");
  const TensorId x = builder.input("x", {2, 3});
  const TensorId w = builder.parameter("w", {2, 3});
  if (!read_afterwards) builder.output(builder.add(Op::Mul, "second", {x, w}));
  builder.update(w, builder.add(Op::Add, "first", {x, w}));
  if (read_afterwards) builder.output(builder.add(Op::Mul, "second", {x, w}));
  return *builder.finish();
}

TEST(Verify, NobodyReadsWhatIsReplacedAfterwards) {
  EXPECT_TRUE(verify(updated(false)).has_value());
  expect_violation(updated(true), "after another tensor took its place", "node 'second' (Mul)");
}

TEST(Verify, ATensorIsReplacedOnce) {
  Graph graph = updated(false);
  graph[graph.outputs[0]].updates = TensorId(1);
  expect_violation(graph, "and so does another tensor", graph.tensors().back().name);
}

TEST(Verify, ProducerThatDoesNotExist) {
  Graph graph = sound();
  graph[TensorId(0)].producer = NodeId(7);
  expect_violation(graph, "producer does not exist", "x");
}

TEST(Verify, TensorThatItsProducerDoesNotMake) {
  Graph graph = sound();
  graph[TensorId(0)].producer = NodeId(1);
  EXPECT_FALSE(verify(graph).has_value());
}

TEST(Verify, ConstantOfAnotherShape) {
  Graph graph = sound();
  graph.constants.at(TensorId(1)).shape = {4};
  expect_violation(graph, "its value has another shape", "c");
}

TEST(Verify, ConstantThatANodeMakes) {
  Graph graph = sound();
  const TensorId made = graph.outputs[0];
  graph.constants.emplace(made, Constant::reals(ElementType::float32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  expect_violation(graph, "a constant and a node makes it", graph[made].name);
}

TEST(Verify, ReadBeforeItIsMade) {
  Graph graph = sound();
  std::vector<Node> nodes = graph.nodes();
  std::swap(nodes[0], nodes[1]);
  graph.set_nodes(std::move(nodes));
  expect_violation(graph, "before it is made", "add");
}

TEST(Verify, TypesThatDoNotFit) {
  Graph graph = sound();
  graph[TensorId(0)].type.shape = {2, 4};
  EXPECT_FALSE(verify(graph).has_value());
}

TEST(Verify, OutputOfTheWrongShape) {
  Graph graph = sound();
  graph[graph.outputs[0]].type.shape = {3, 2};
  expect_violation(graph, "is 3x2 and should be 2x3", "add");
}

TEST(Verify, MoreOutputsThanTheOperator) {
  Graph graph = sound();
  graph[NodeId(0)].outputs.push_back(graph.add_tensor({.name = "extra"}));
  expect_violation(graph, "more outputs", "relu");
}

TEST(Verify, TwoProducersOfOneTensor) {
  Graph graph = sound();
  graph[NodeId(1)].outputs = graph[NodeId(0)].outputs;
  EXPECT_FALSE(verify(graph).has_value());
}

TEST(Verify, OutputThatIsNeverMade) {
  Graph graph = sound();
  Node last = graph.nodes()[1];
  const TensorId output = graph.outputs[0];
  graph.set_nodes({graph.nodes()[0], last});
  graph[NodeId(1)].outputs = {graph.add_tensor({.name = "other", .type = graph[output].type})};
  graph[graph[NodeId(1)].outputs[0]].producer = NodeId(1);
  expect_violation(graph, "never made", graph[output].name);
}

TEST(Verify, MoreOperationsThanCanBeCountedAreTheUsersFault) {
  GraphBuilder builder("test");
  const std::int64_t side = std::int64_t{1} << 25;
  const TensorId x = builder.input("x", {side, side});
  builder.output(builder.add(Op::MatMul, "product", {x, x},
                             {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}}));
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value());
  const Status status = verify(*graph);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::user);
  EXPECT_FALSE(status.error().advice.empty());
}

void expect_uncountable(GraphBuilder& builder, const std::string& message) {
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value());
  const Status status = verify(*graph);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::user);
  EXPECT_NE(status.error().message.find(message), std::string::npos) << status.error().text();
}

TEST(Verify, OperationsOfAllNodesTogetherCanBeCounted) {
  GraphBuilder builder("test");
  const std::int64_t side = std::int64_t{1} << 20;  // 2^60 MACs each, eight times
  const TensorId x = builder.input("x", {side, side});
  for (int i = 0; i < 8; ++i) builder.add(Op::MatMul, "product", {x, x});
  expect_uncountable(builder, "nodes up to this one do more operations");
}

TEST(Verify, OperationsOfAllKindsTogetherCanBeCounted) {
  GraphBuilder builder("test");
  const std::int64_t size = std::int64_t{1} << 31;  // 2^62 multiplications and as many additions
  builder.add(Op::LRN, "norm", {builder.input("x", {1, size})},
              {{Attr::size, size}, {Attr::alpha, 1.0}, {Attr::beta, 1.0}, {Attr::bias, 1.0}});
  expect_uncountable(builder, "it does more operations");
}

TEST(Verify, BytesOfAllTensorsTogetherCanBeCounted) {
  GraphBuilder builder("test");
  for (int i = 0; i < 512; ++i) builder.input("x", {std::int64_t{1} << 52});
  expect_uncountable(builder, "more bytes");
}

TEST(Verify, NodeWithoutAFirstOutput) {
  Graph graph = sound();
  graph[NodeId(1)].outputs = {TensorId()};
  expect_violation(graph, "has no first output", "add");
}

TEST(Verify, ImpossibleShape) {
  Graph graph = sound();
  graph[TensorId(0)].type.shape = {-1};
  expect_violation(graph, "an axis of negative size", "x");
}

// What a builder keeps of a mistake is for finish() to say.
TEST(Builder, MoreOutputsThanTheOperatorHas) {
  GraphBuilder builder("test");
  builder.add_many(Op::Relu, "relu", {builder.input("x", {2})}, {}, 2);
  const auto graph = builder.finish();
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().message, "Relu has 1 outputs, and 2 are wanted");
  EXPECT_TRUE(builder.graph().tensors().empty());
}

TEST(Builder, UnknownElementTypes) {
  const auto last = static_cast<std::int64_t>(ElementType::boolean);
  for (const std::int64_t type :
       {std::int64_t{-1}, last + 1, std::int64_t{256}, std::int64_t{0x8000}, std::int64_t{1} << 16}) {
    GraphBuilder builder("test");
    builder.add(Op::Cast, "cast", {builder.input("x", {2})}, {{Attr::to, type}});
    const auto graph = builder.finish();
    ASSERT_FALSE(graph.has_value());
    EXPECT_NE(graph.error().message.find("unknown element type"), std::string::npos) << graph.error().text();
  }
}

TEST(Builder, NormsInInferenceGiveNoStatistics) {
  GraphBuilder builder("test");
  std::vector<TensorId> inputs = {builder.input("x", {2, 3})};
  for (int i = 0; i < 4; ++i) inputs.push_back(builder.input("p", {3}));
  builder.add_many(Op::BatchNormalization, "norm", inputs,
                   {{Attr::epsilon, 1e-5}, {Attr::momentum, 0.9}, {Attr::training_mode, std::int64_t{0}}}, 3);
  EXPECT_FALSE(builder.finish().has_value());
}

}  // namespace
}  // namespace monet
