// Does a file with its batch baked in take another one, and does everything scale as it should?
#include "onnx/rebatch.h"

#include "graph/verify.h"
#include "support/expect_error.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

#include <random>

namespace monet::onnx {
namespace {

using test::attr;
using test::macs_of;
using test::OnnxModel;
using test::parameters_of;
using test::tensor_named;

struct Case {
  const char* what;
  Shape input;
  Shape output;
  std::int64_t from;
  Shape grown;
  Shape expected;
};

// Every case grows the batch to 5.
const std::vector<Case> cases = {
    {"split heads", {2, 7, 12}, {2, 7, 3, 4}, 2, {5, 7, 12}, {5, 7, 3, 4}},
    {"merge heads", {2, 7, 3, 4}, {2, 7, 12}, 2, {5, 7, 3, 4}, {5, 7, 12}},
    {"batch and heads together", {2, 3, 7, 4}, {6, 7, 4}, 2, {5, 3, 7, 4}, {15, 7, 4}},
    {"batch and heads apart", {6, 7, 4}, {2, 3, 7, 4}, 2, {15, 7, 4}, {5, 3, 7, 4}},
    {"flatten an image", {2, 3, 8, 8}, {2, 192}, 2, {5, 3, 8, 8}, {5, 192}},
    {"flatten to one axis", {2, 3, 4}, {24}, 2, {5, 3, 4}, {60}},
    {"rows of all positions", {2, 7, 12}, {14, 12}, 2, {5, 7, 12}, {35, 12}},
    {"positions from rows", {14, 12}, {2, 7, 12}, 2, {35, 12}, {5, 7, 12}},
    {"an axis of one in front", {2, 7}, {1, 2, 7}, 2, {5, 7}, {1, 5, 7}},
    {"sequence first", {7, 2, 12}, {7, 6, 4}, 2, {7, 5, 12}, {7, 15, 4}},
    {"sequence first, back", {7, 6, 4}, {7, 2, 12}, 2, {7, 15, 4}, {7, 5, 12}},
    {"batch of one: split heads", {1, 7, 12}, {1, 7, 3, 4}, 1, {5, 7, 12}, {5, 7, 3, 4}},
    {"batch of one: flatten", {1, 3, 8, 8}, {1, 192}, 1, {5, 3, 8, 8}, {5, 192}},
    {"batch of one dropped", {1, 7, 12}, {7, 12}, 1, {5, 7, 12}, {35, 12}},
    {"batch of one comes back", {7, 12}, {1, 7, 12}, 1, {35, 12}, {5, 7, 12}},
    {"one image of one channel", {1, 1, 28, 28}, {1, 784}, 1, {5, 1, 28, 28}, {5, 784}},
    {"sequence and batch together", {7, 2, 12}, {14, 12}, 2, {7, 5, 12}, {35, 12}},
    {"sequence and batch apart", {14, 12}, {7, 2, 12}, 2, {35, 12}, {7, 5, 12}},
    {"nothing grew", {7, 12}, {84}, 2, {7, 12}, {84}},
};

TEST(Rebatch, TypicalReshapes) {
  for (const Case& c : cases) {
    const auto target = corrected_reshape({c.input, c.output, c.output}, c.grown, c.from, 5);
    ASSERT_TRUE(target.has_value()) << c.what;
    EXPECT_EQ(*target, c.expected) << c.what;
  }
}

TEST(Rebatch, NothingWhenTheGrowthIsNotTheBatch) {
  // Two axes grew; by another factor; another rank.
  EXPECT_FALSE(corrected_reshape({{2, 2, 3}, {4, 3}, {}}, {5, 5, 3}, 2, 5).has_value());
  EXPECT_FALSE(corrected_reshape({{2, 3}, {6}, {}}, {4, 3}, 2, 5).has_value());
  EXPECT_FALSE(corrected_reshape({{3, 3}, {9}, {}}, {5, 3}, 2, 5).has_value());
  EXPECT_FALSE(corrected_reshape({{2, 3}, {6}, {}}, {5, 3, 1}, 2, 5).has_value());
}

TEST(Rebatch, HugeSizesAreNothingNotAnOverflow) {
  const std::int64_t huge = std::int64_t{1} << 52;
  EXPECT_FALSE(corrected_reshape({{huge, 3}, {huge, 3}, {}}, {1, 3}, 1, huge).has_value());
  EXPECT_FALSE(corrected_reshape({{huge, huge, 0, 2}, {huge, huge, 0, 2}, {}}, {huge, huge, 0, 6}, 2, 6).has_value());
}

TEST(Rebatch, CorrectedTargetsHoldAllElements) {
  // Splitting and merging the axes behind the batch at random.
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const std::int64_t from = 1 + random() % 4;
    const std::int64_t to = 1 + random() % 9;
    Shape factors = {from};
    for (unsigned i = 0; i < 2 + random() % 4; ++i) factors.push_back(2 + random() % 3);
    const auto grouped = [&] {
      Shape shape = {factors[0]};
      for (std::size_t i = 1; i < factors.size(); ++i) {
        if (i > 1 && random() % 2 == 0) {
          shape.back() *= factors[i];
        } else {
          shape.push_back(factors[i]);
        }
      }
      return shape;
    };
    const Shape input = grouped();
    const Shape output = grouped();
    Shape grown = input;
    grown[0] = to;
    const auto target = corrected_reshape({input, output, output}, grown, from, to);
    ASSERT_TRUE(target.has_value());
    Shape expected = output;
    expected[0] = to;
    EXPECT_EQ(*target, expected);
  }
}

// Attention written with the batch in every Reshape.
OnnxModel attention_with_batch(std::int64_t batch) {
  OnnxModel model;
  model.input("x", {batch, 7, 12});
  model.initializer(test::int64_vector("split", {batch, 7, 3, 4}));
  model.initializer(test::int64_vector("joined", {batch, 7, 12}));
  model.initializer(test::int64_vector("rows", {batch * 7, 12}));
  const auto heads = [&](const std::string& name, Shape perm) {
    model.initializer(test::external("w" + name, {12, 12}));
    model.node("MatMul", {"x", "w" + name}, {name + "0"});
    model.node("Reshape", {name + "0", "split"}, {name + "1"});
    model.node("Transpose", {name + "1"}, {name}, {attr("perm", test::OnnxAttribute::Value(std::move(perm)))});
  };
  heads("q", {0, 2, 1, 3});
  heads("k", {0, 2, 3, 1});
  heads("v", {0, 2, 1, 3});
  model.node("MatMul", {"q", "k"}, {"scores"});
  model.node("Softmax", {"scores"}, {"weights"});
  model.node("MatMul", {"weights", "v"}, {"heads"});
  model.node("Transpose", {"heads"}, {"back"}, {attr("perm", {0, 2, 1, 3})});
  model.node("Reshape", {"back", "rows"}, {"flat"});
  model.initializer(test::external("wo", {12, 12}));
  model.node("MatMul", {"flat", "wo"}, {"out"});
  model.node("Reshape", {"out", "joined"}, {"y0"});
  model.node("Add", {"y0", "x"}, {"y"});
  model.output("y");
  return model;
}

TEST(Rebatch, MacsScaleWithTheBatch) {
  for (const std::int64_t baked : {1, 2, 3}) {
    const OnnxModel model = attention_with_batch(baked);
    const std::int64_t original = macs_of(model.network().graph);
    EXPECT_EQ(original, baked * (4 * 7 * 12 * 12 + 2 * 7 * 7 * 12));
    for (const std::int64_t batch : {1, 2, 5, 64}) {
      const NetworkGraph network = model.network({.batch = batch});
      EXPECT_TRUE(verify(network.graph).has_value());
      EXPECT_EQ(macs_of(network.graph) * baked, original * batch) << baked << " to " << batch;
      EXPECT_EQ(parameters_of(network.graph), 4 * 12 * 12);
      const Graph& graph = network.graph;
      EXPECT_EQ(graph[tensor_named(graph, "scores")].type.shape, (Shape{batch, 3, 7, 7}));
      EXPECT_EQ(network.notes.empty(), batch == baked);
    }
  }
}

TEST(Rebatch, TheClassTokenIsExpandedToTheNewBatch) {
  OnnxModel model;
  model.input("x", {2, 4, 6});
  model.initializer(test::external("cls", {1, 1, 6}));
  model.initializer(test::int64_vector("size", {2, 1, 6}));
  model.node("Expand", {"cls", "size"}, {"tokens"});
  model.node("Concat", {"tokens", "x"}, {"y"}, {attr("axis", 1)});
  model.output("y");
  const NetworkGraph network = model.network({.batch = 5});
  EXPECT_EQ(network.graph[network.graph.outputs[0]].type.shape, (Shape{5, 5, 6}));
  EXPECT_EQ(parameters_of(network.graph), 6);
}

TEST(Rebatch, ATableThatLooksLikeTheBatchStaysAsItIs) {
  // The table has as many rows as the batch by chance, and broadcasts.
  OnnxModel model;
  model.input("x", {4, 4, 6});
  model.initializer(test::external("positions", {1, 6}));
  model.initializer(test::int64_vector("size", {4, 6}));
  model.node("Expand", {"positions", "size"}, {"table"});
  model.node("Add", {"x", "table"}, {"y"});
  model.output("y");
  const NetworkGraph network = model.network({.batch = 3});
  EXPECT_EQ(network.graph[network.graph.outputs[0]].type.shape, (Shape{3, 4, 6}));
}

TEST(Rebatch, AllInputsOfTheSameBatchGrowTogether) {
  OnnxModel model;
  model.input("x", {2, 3});
  model.input("z", {2, 3});
  model.input("table", {3, 3});
  model.node("Add", {"x", "z"}, {"sum"});
  model.node("MatMul", {"sum", "table"}, {"y"});
  model.output("y");
  const NetworkGraph network = model.network({.batch = 7});
  EXPECT_EQ(network.graph[network.graph.outputs[0]].type.shape, (Shape{7, 3}));
}

TEST(Rebatch, AScalarInputInFrontIsNotTheBatch) {
  OnnxModel model;
  model.input("rate", {});
  model.input("x", {2, 3});
  model.node("Mul", {"x", "rate"}, {"y"});
  model.output("y");
  const NetworkGraph network = model.network({.batch = 7});
  EXPECT_EQ(network.graph[network.graph.outputs[0]].type.shape, (Shape{7, 3}));
}

TEST(Rebatch, TargetsComputedFromShapesFollowByThemselves) {
  OnnxModel model;
  model.input("x", {2, 6, 4});
  model.node("Shape", {"x"}, {"s"});
  model.initializer(test::int64_vector("zero", {0}));
  model.initializer(test::int64_vector("rest", {3, 8}));
  model.node("Gather", {"s", "zero"}, {"batch"});
  model.node("Concat", {"batch", "rest"}, {"target"}, {attr("axis", 0)});
  model.node("Reshape", {"x", "target"}, {"y"});
  model.output("y");
  EXPECT_EQ(test::count_of(model.network({.batch = 9}).graph, Op::Reshape), 1);
  const NetworkGraph network = model.network({.batch = 9});
  EXPECT_EQ(network.graph[network.graph.outputs[0]].type.shape, (Shape{9, 3, 8}));
}

TEST(Rebatch, AnImpossibleOneNamesTheNode) {
  OnnxModel model = attention_with_batch(2);
  model.initializer(test::int64_vector("odd", {7, 24}));
  model.node("Reshape", {"y", "odd"}, {"mixed"});
  model.node("MatMul", {"mixed", "w"}, {"z"});
  model.initializer(test::external("w", {24, 2}));
  model.output("z");
  model.network();
  const Error error = model.error({.batch = 5});
  test::expect_error(error, {"fixed to a batch of 2", "given 5"}, "node 'mixed'");
}

}  // namespace
}  // namespace monet::onnx
