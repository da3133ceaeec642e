// What tiles look like where it can be said beforehand: halos, holes, chains of sums, buffers of weights, pieces,
// errors.
#include "evaluate/tiles/build.h"
#include "graph/builder.h"
#include "support/expect_error.h"
#include "support/operator_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace monet::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Integers = std::vector<std::int64_t>;

Attributes window(std::int64_t stride, std::int64_t pad, std::int64_t group = 1) {
  return {{Attr::strides, Integers{stride, stride}},
          {Attr::dilations, Integers{1, 1}},
          {Attr::pads, Integers(4, pad)},
          {Attr::group, group}};
}

class TilingCase {
 public:
  explicit TilingCase(Graph graph) : graph_(std::move(graph)), tiling_(graph_) {
    cuts.operators.resize(graph_.nodes().size());
  }

  NodeId node(const std::string& name) const {
    const auto found = std::ranges::find(graph_.nodes(), name, &Node::name);
    return NodeId(static_cast<std::size_t>(found - graph_.nodes().begin()));
  }
  TensorId tensor(const std::string& name) const {
    const auto found = std::ranges::find(graph_.tensors(), name, &Tensor::name);
    return TensorId(static_cast<std::size_t>(found - graph_.tensors().begin()));
  }
  TilingCase& cut(const std::string& name, std::vector<LoopCut> loops) {
    cuts.operators[node(name).index()].cuts = std::move(loops);
    return *this;
  }
  TileGraph tiles(const TileOptions& options = {}) const {
    auto result = tiling_.tiles(cuts, options);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
    return result ? *std::move(result) : TileGraph{};
  }
  Error error(const TileOptions& options = {}) const { return tiling_.tiles(cuts, options).error(); }
  std::vector<std::string> loops(const std::string& name) const {
    std::vector<std::string> result;
    for (const CuttableLoop& loop : tiling_.cuttable(node(name))) {
      result.push_back(name_of(loop.loop.name) + (loop.reduces ? "+" : ""));
    }
    return result;
  }
  // "input: buffer of its tensor/bytes", one for each read.
  std::vector<std::string> reads(const TileGraph& tiles, const std::string& name, std::size_t tile) const {
    std::vector<std::string> result;
    for (const TileRead& read : tiles.reads_of(TileId(tiles.operators[node(name).index()].first + tile))) {
      const ReadPart& part = tiles.part(read);
      const std::size_t first = tiles.first_buffer[tiles.buffers[read.buffer.index()].tensor.index()];
      result.push_back(std::to_string(part.input) + ":" + std::to_string(read.buffer.index() - first) + "/" +
                       std::to_string(part.bytes));
    }
    return result;
  }
  const TilingGraph& tiling() const { return tiling_; }

  Assignment cuts;

 private:
  Graph graph_;
  TilingGraph tiling_;
};

TilingCase two_convolutions(std::int64_t kernel, std::int64_t stride) {
  GraphBuilder builder("test");
  const TensorId x = builder.add(Op::Relu, "first", {builder.input("x", {1, 2, 8, 4})});
  const TensorId weight = builder.parameter("w", {3, 2, kernel, kernel});
  builder.output(builder.add(Op::Conv, "second", {x, weight}, window(stride, kernel / 2)));
  return TilingCase(*builder.finish());
}

// A row is 2 channels x 4 columns x 4 bytes = 32 bytes; the weights 3 x 2 x 9 x 4 = 216.
TEST(TileRules, HaloOfAConvolution) {
  TilingCase test = two_convolutions(3, 1);
  test.cut("first", {{.loop = Dim::OY, .tile = 2}}).cut("second", {{.loop = Dim::OY, .tile = 4}});
  const TileGraph tiles = test.tiles();
  EXPECT_THAT(test.reads(tiles, "second", 0), ElementsAre("0:0/64", "0:1/64", "0:2/32", "1:0/216"));
  EXPECT_THAT(test.reads(tiles, "second", 1), ElementsAre("0:1/32", "0:2/64", "0:3/64", "1:0/216"));
}

// Rows 1, 3, 5 and 7 are read by nobody.
TEST(TileRules, HolesOfAStride) {
  TilingCase test = two_convolutions(1, 2);
  test.cut("first", {{.loop = Dim::OY, .tile = 1}}).cut("second", {{.loop = Dim::OY, .tile = 2}});
  const TileGraph tiles = test.tiles();
  EXPECT_THAT(test.reads(tiles, "second", 0), ElementsAre("0:0/16", "0:2/16", "1:0/24"));
  EXPECT_THAT(test.reads(tiles, "second", 1), ElementsAre("0:4/16", "0:6/16", "1:0/24"));
}

TEST(TileRules, WhatTheStepBeginsWithIsCutWhereReadersBegin) {
  TilingCase test = two_convolutions(3, 1);
  test.cut("first", {{.loop = Dim::OY, .tile = 3}}).cut("second", {{.loop = Dim::K, .tile = 2}});
  EXPECT_EQ(*test.tiling().cells(test.cuts, test.tensor("x")),
            (std::vector<Integers>{{0, 1}, {0, 2}, {0, 3, 6, 8}, {0, 4}}));
  EXPECT_EQ(*test.tiling().cells(test.cuts, test.tensor("w")),
            (std::vector<Integers>{{0, 2, 3}, {0, 2}, {0, 3}, {0, 3}}));
  const TileGraph tiles = test.tiles();
  EXPECT_THAT(test.reads(tiles, "second", 1), ElementsAre("0:0/96", "0:1/96", "0:2/64", "1:1/72"));
}

// The image itself, cut by tiles of two rows that read one more on each side: from 0, 1, 3 and 5 on.
TEST(TileRules, AHaloOfTheInputIsTwoBuffers) {
  GraphBuilder builder("test");
  const TensorId weight = builder.parameter("w", {1, 1, 3, 3});
  builder.output(builder.add(Op::Conv, "conv", {builder.input("x", {1, 1, 8, 8}), weight}, window(1, 1)));
  TilingCase test(*builder.finish());
  test.cut("conv", {{.loop = Dim::OY, .tile = 2}});
  EXPECT_EQ((*test.tiling().cells(test.cuts, test.tensor("x")))[2], (Integers{0, 1, 3, 5, 8}));
  const TileGraph tiles = test.tiles();
  EXPECT_THAT(test.reads(tiles, "conv", 1), ElementsAre("0:1/64", "0:2/64", "1:0/36"));
  EXPECT_EQ(tiles.buffers[tiles.first_buffer[test.tensor("x").index()] + 3].bytes, 3 * 8 * 4);
}

// Weights that two readers cut along different axes do not fall into more buffers than tiles read them.
TEST(TileRules, BuffersOfAWeightAreNoMoreThanItsReaders) {
  GraphBuilder builder("test");
  const TensorId weight = builder.parameter("w", {6, 8});
  builder.output(builder.add(Op::MatMul, "a", {builder.input("x", {2, 6}), weight}, plain_product));
  builder.output(builder.add(Op::Relu, "b", {weight}));
  TilingCase test(*builder.finish());
  test.cut("a", {{.loop = Dim::K, .tile = 1}}).cut("b", {{.loop = Dim::B, .tile = 1}});
  EXPECT_EQ((*test.tiling().cells(test.cuts, test.tensor("w")))[0], (Integers{0, 6}));
  EXPECT_EQ((*test.tiling().cells(test.cuts, test.tensor("w")))[1].size(), 9U);
}

TEST(TileRules, SumsOverSeveralTiles) {
  GraphBuilder builder("test");
  Attributes attributes = window(1, 1);
  attributes.set(Attr::shape, Shape{4, 2, 3, 3});
  const TensorId gradient = builder.add(
      Op::ConvWeightGrad, "grad", {builder.input("x", {2, 2, 6, 6}), builder.input("dy", {2, 4, 6, 6})}, attributes);
  builder.output(builder.add(Op::Relu, "reader", {gradient}));
  TilingCase test(*builder.finish());
  EXPECT_THAT(test.loops("grad"), ElementsAre("K", "C", "FY", "FX", "B+", "OY+", "OX+"));
  // Axes that reduce come last, whatever the plan's order; pieces keep it.
  test.cut("grad", {{.loop = Dim::OY, .pieces = 2}, {.loop = Dim::K, .pieces = 2}, {.loop = Dim::B, .tile = 1}});
  const TileGraph tiles = test.tiles();
  const OperatorTiles& grid = tiles.operators[test.node("grad").index()];
  ASSERT_EQ(grid.count, 8U);
  EXPECT_EQ(grid.axes[0].loop, Dim::K);
  EXPECT_FALSE(grid.axes[0].reduces);
  EXPECT_TRUE(grid.axes[1].reduces && grid.axes[2].reduces);
  for (std::size_t i = 0; i < 8; ++i) {
    const auto writes = tiles.writes_of(TileId(i));
    ASSERT_EQ(writes.size(), 1U);
    EXPECT_EQ(writes[0].adds, i % 4 != 0);
    EXPECT_EQ(writes[0].final, i % 4 == 3);
    EXPECT_EQ(tiles.buffers[writes[0].buffer.index()].maker, TileId(i / 4 * 4 + 3));
    const std::size_t k = i / 4, oy = i / 2 % 2;
    EXPECT_EQ(TileGraph::index_along(grid, TileId(i), 0), k);
    EXPECT_EQ(TileGraph::index_along(grid, TileId(i), 1), oy);
    EXPECT_EQ(tiles.piece_of(TileId(i)), oy * 2 + k);
  }
  EXPECT_THAT(test.reads(tiles, "reader", 0), ElementsAre("0:0/144", "0:1/144"));
}

TEST(TileRules, PiecesReadTogether) {
  TilingCase test = two_convolutions(3, 1);
  test.cut("second", {{.loop = Dim::OY, .pieces = 2, .tile = 2}});
  const TileGraph tiles = test.tiles();
  // Rows 0..2 and 1..4 of the one buffer: 0..4 together.
  const auto first = static_cast<std::size_t>(tiles.operators[test.node("second").index()].first);
  EXPECT_EQ(tiles.part(tiles.reads_of(TileId(first))[0]).bytes, 3 * 32);
  EXPECT_EQ(tiles.part(tiles.reads_of(TileId(first + 1))[0]).bytes, 4 * 32);
  for (std::size_t i : {0, 1}) EXPECT_EQ(tiles.part(tiles.reads_of(TileId(first + i))[0]).group_bytes, 5 * 32);
}

TEST(TileRules, BitsOfElements) {
  TilingCase test = two_convolutions(3, 1);
  test.cut("first", {{.loop = Dim::OX, .tile = 3}});
  TileOptions options;
  options.element_bits.assign(4, 4);
  const TileGraph tiles = test.tiles(options);
  const std::size_t first = tiles.first_buffer[test.tensor("first.out").index()];
  EXPECT_EQ(tiles.buffers[first].bytes, 2 * 8 * 3 / 2);
  EXPECT_EQ(tiles.buffers[first + 1].bytes, 2 * 8 * 1 / 2);
}

TEST(TileRules, BlockFormatsAreSharedOut) {
  GraphBuilder builder("test");
  const TensorId x = builder.input("x", {4, 64});
  const TensorId y = builder.add(Op::Relu, "relu", {x});
  builder.output(y);
  // 8 bits and a scale of 8 bits for each 32: 33 bytes.
  builder.edit()[y].type.format = {
      .element = ElementType::float8e4m3fn, .scale_bits = 8, .group_axis = -1, .group_size = 32};
  TilingCase test(*builder.finish());
  test.cut("relu", {{.loop = Dim::B, .tile = 1}});
  const TileGraph tiles = test.tiles();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(tiles.buffers[tiles.first_buffer[test.tensor("relu.out").index()] + i].bytes, 2 * 33);
  }
}

TEST(TileRules, LoopsThatCanBeCut) {
  GraphBuilder builder("test");
  const TensorId x = builder.input("x", {2, 4, 6, 6});
  const TensorId c = builder.parameter("c", {4});
  const TensorId dw = builder.parameter("dw", {4, 1, 3, 3});
  builder.output(builder.add(Op::Conv, "depthwise", {x, dw}, window(1, 1, 4)));
  builder.output(builder.add(Op::Conv, "biased", {x, builder.parameter("w", {3, 4, 3, 3}), builder.parameter("b", {3})},
                             window(1, 1)));
  Attributes up = window(2, 0);
  up.set(Attr::output_padding, Integers{0, 0});
  builder.output(builder.add(Op::ConvTranspose, "up", {x, builder.parameter("u", {4, 3, 2, 2})}, up));
  Attributes back = window(1, 1);
  back.set(Attr::output_padding, Integers{0, 0});
  builder.output(builder.add(Op::ConvTranspose, "overlap", {x, builder.parameter("v", {4, 3, 3, 3})}, back));
  builder.output(builder.add(Op::BatchNormalization, "batch",
                             {x, c, c, builder.statistic("mean", {4}), builder.statistic("variance", {4})},
                             {{Attr::epsilon, 1e-5}, {Attr::momentum, 0.9}, {Attr::training_mode, std::int64_t{1}}}));
  const TensorId rows = builder.input("rows", {3, 5, 8});
  builder.output(builder.add(Op::Softmax, "softmax", {rows}, {{Attr::axes, Integers{2}}}));
  builder.output(builder.add(Op::LayerNormalization, "layer", {rows, builder.parameter("s", {8})},
                             {{Attr::axis, std::int64_t{2}}, {Attr::epsilon, 1e-5}}));
  builder.output(builder.add(
      Op::CumSum, "running", {rows},
      {{Attr::axis, std::int64_t{1}}, {Attr::exclusive, std::int64_t{0}}, {Attr::reverse, std::int64_t{0}}}));
  builder.output(
      builder.add(Op::ReduceSum, "sum", {rows}, {{Attr::axes, Integers{1}}, {Attr::keepdims, std::int64_t{1}}}));
  builder.output(
      builder.add(Op::ReduceMean, "mean_of", {rows}, {{Attr::axes, Integers{1}}, {Attr::keepdims, std::int64_t{1}}}));
  builder.output(builder.add(Op::MatMul, "matmul", {rows, builder.parameter("m", {8, 7})}, plain_product));
  const TensorId heads = builder.input("heads", {2, 3, 5, 5});
  builder.output(builder.add(Op::Attention, "attention", {heads, heads, heads},
                             {{Attr::scale, 1.0}, {Attr::is_causal, std::int64_t{0}}, {Attr::softcap, 0.0}}));
  builder.output(builder.add(Op::Reshape, "view", {rows}, {{Attr::shape, Shape{15, 8}}}));
  const TensorId table = builder.parameter("table", {20, 8});
  const TensorId ids = builder.input("ids", {4, 5}, ElementType::int64);
  const TensorId rate = builder.input("rate", {});
  const TensorId taken = builder.add(Op::Gather, "gather", {table, ids}, {{Attr::axis, std::int64_t{0}}});
  const TensorId scattered = builder.add(Op::GatherGrad, "scatter", {taken, ids},
                                         {{Attr::axis, std::int64_t{0}}, {Attr::shape, Shape{20, 8}}});
  builder.output(builder.add(Op::SgdUpdate, "update", {table, scattered, rate}, {{Attr::weight_decay, 0.0}}));
  builder.output(builder.add(Op::MeanSquaredErrorLossGrad, "loss_grad",
                             {builder.input("dl", {}), rows, builder.input("target", {3, 5, 8})},
                             {{Attr::reduction, std::string("mean")}}));
  auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  const TilingCase test(*std::move(graph));
  EXPECT_THAT(test.loops("depthwise"), ElementsAre("B", "G", "OY", "OX", "FY+", "FX+"));
  EXPECT_THAT(test.loops("biased"), ElementsAre("B", "K", "OY", "OX"));
  // Windows that do not overlap may be told apart, others not.
  EXPECT_THAT(test.loops("up"), ElementsAre("B", "K", "C+", "IY", "IX"));
  EXPECT_THAT(test.loops("overlap"), ElementsAre("B", "K", "C+"));
  EXPECT_THAT(test.loops("batch"), ElementsAre("K"));
  EXPECT_THAT(test.loops("softmax"), ElementsAre("B", "D"));
  EXPECT_THAT(test.loops("layer"), ElementsAre("B", "D"));
  EXPECT_THAT(test.loops("running"), ElementsAre("B", "K"));
  EXPECT_THAT(test.loops("sum"), ElementsAre("B", "D+", "K"));
  EXPECT_THAT(test.loops("mean_of"), ElementsAre("B", "K"));
  EXPECT_THAT(test.loops("matmul"), ElementsAre("B", "D", "K", "C+"));
  EXPECT_THAT(test.loops("attention"), ElementsAre("B", "H", "D"));
  EXPECT_THAT(test.loops("view"), IsEmpty());
  EXPECT_THAT(test.loops("gather"), ElementsAre("B", "D", "K"));
  EXPECT_THAT(test.loops("scatter"), ElementsAre("K"));
  EXPECT_THAT(test.loops("update"), ElementsAre("B", "K"));
  // The one point that scales the loss's gradient is done by every tile.
  EXPECT_THAT(test.loops("loss_grad"), ElementsAre("B", "D", "K"));
}

// Reshapes and transposes of 10^9 elements take no table of them.
TEST(TileRules, LargeTensorsTakeLittleTime) {
  GraphBuilder builder("test");
  const TensorId x = builder.add(Op::Relu, "first", {builder.input("x", {1024, 1024, 1000})});
  const TensorId flat = builder.add(Op::Reshape, "flat", {x}, {{Attr::shape, Shape{1000, 1024, 1024}}});
  builder.output(builder.add(Op::Relu, "second", {flat}));
  const TensorId turned = builder.add(Op::Transpose, "turned", {x}, {{Attr::perm, Integers{2, 1, 0}}});
  const TensorId line = builder.add(Op::Reshape, "line", {turned}, {{Attr::shape, Shape{1024 * 1024 * 1000}}});
  builder.output(builder.add(Op::Relu, "third", {line}));
  TilingCase test(*builder.finish());
  test.cut("first", {{.loop = Dim::B, .tile = 100}, {.loop = Dim::K, .tile = 300}});
  test.cut("second", {{.loop = Dim::B, .tile = 77}}).cut("third", {{.loop = Dim::K, .tile = 123'456'789}});
  const auto start = std::chrono::steady_clock::now();
  const TileGraph tiles = test.tiles();
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5);
  // What the tiles of a reader read together is the tensor, each element once.
  for (const char* reader : {"second", "third"}) {
    std::int64_t total = 0;
    const OperatorTiles& operation = tiles.operators[test.node(reader).index()];
    for (std::uint32_t i = 0; i < operation.count; ++i) {
      for (const TileRead& read : tiles.reads_of(TileId(operation.first + i))) total += tiles.part(read).bytes;
    }
    EXPECT_EQ(total, std::int64_t{1024} * 1024 * 1000 * 4) << reader;
  }
}

// Each doubles the one before: 2^24 ways to the same element. Taken to read all, quickly.
TEST(TileRules, ViewsThatDoubleAreBounded) {
  GraphBuilder builder("test");
  TensorId x = builder.add(Op::Relu, "first", {builder.input("x", {2})});
  for (int i = 0; i < 24; ++i)
    x = builder.add(Op::Concat, "double" + std::to_string(i), {x, x}, {{Attr::axis, std::int64_t{0}}});
  builder.output(builder.add(Op::Relu, "last", {x}));
  TilingCase test(*builder.finish());
  test.cut("first", {{.loop = Dim::K, .tile = 1}}).cut("last", {{.loop = Dim::K, .tile = 1 << 20}});
  EXPECT_THAT(test.reads(test.tiles(), "last", 0), ElementsAre("0:0/4", "0:1/4"));
}

// Known indices without a pattern: exact while they are few; beyond a million all rows count as read.
TEST(TileRules, BeyondTheBudgetAllIsRead) {
  for (const std::int64_t count : {std::int64_t{1000}, std::int64_t{3} << 19}) {
    GraphBuilder builder("test");
    Integers rows;
    for (std::int64_t i = 0; i < count; ++i) rows.push_back(i * i % 7 == 1 ? 2 : 0);
    const TensorId indices = builder.constant("rows", Constant::integers(ElementType::int64, {count}, rows));
    const TensorId table = builder.add(Op::Relu, "table", {builder.input("x", {4, 1})});
    builder.output(builder.add(Op::Gather, "gather", {table, indices}, {{Attr::axis, std::int64_t{0}}}));
    TilingCase test(*builder.finish());
    test.cut("table", {{.loop = Dim::B, .tile = 1}});
    std::vector<std::string> reads = test.reads(test.tiles(), "gather", 0);
    reads.pop_back();  // the indices
    if (count == 1000) {
      EXPECT_THAT(reads, ElementsAre("0:0/4", "0:2/4"));
    } else {
      EXPECT_THAT(reads, ElementsAre("0:0/4", "0:1/4", "0:2/4", "0:3/4"));
    }
  }
}

TEST(TileRules, Errors) {
  TilingCase test = two_convolutions(3, 1);
  test.cut("second", {{.loop = Dim::OY, .tile = 9}});
  expect_error(test.error(), {"a tile of 9", "OY", "8 iterations"}, "second");
  test.cut("second", {{.loop = Dim::OY, .tile = -1}});
  expect_error(test.error(), {"a tile of -1"}, "second");
  test.cut("second", {{.loop = Dim::OY, .pieces = 9}});
  expect_error(test.error(), {"pieces of 9", "OY"}, "second");
  test.cut("second", {{.loop = Dim::OY, .pieces = 0}});
  expect_error(test.error(), {"pieces of 0"}, "second");
  test.cut("second", {{.loop = Dim::OY, .tile = 2}, {.loop = Dim::OY, .tile = 4}});
  expect_error(test.error(), {"OY", "twice"}, "second");
  test.cut("second", {{.loop = Dim::H, .tile = 1}});
  expect_error(test.error(), {"no loop H"}, "second");
  EXPECT_NE(test.error().advice.find("K (3)"), std::string::npos);
  test.cut("second", {{.loop = Dim::OY, .tile = 1}, {.loop = Dim::OX, .tile = 1}});
  expect_error(test.error({.element_bits = {}, .max_tiles = 20}), {"more than 20 tiles"}, "second");
  expect_error(test.error({.element_bits = {}, .max_tiles = 32}), {"the step", "more than 32 tiles"}, "second");
  expect_error(test.error({.element_bits = {}, .max_tiles = 100, .max_reads = 40}), {"more than 40 reads"}, "second");

  GraphBuilder builder("test");
  builder.output(builder.add(Op::Softmax, "softmax", {builder.input("x", {3, 5})}, {{Attr::axes, Integers{1}}}));
  TilingCase rows(*builder.finish());
  rows.cut("softmax", {{.loop = Dim::K, .tile = 2}});
  expect_error(rows.error(), {"Softmax cannot be cut along K"}, "softmax");
  EXPECT_NE(rows.error().advice.find("B (3)"), std::string::npos);
  // One tile of all of it is no cut.
  rows.cut("softmax", {{.loop = Dim::K, .tile = 5}});
  EXPECT_EQ(rows.tiles().tiles(), 1U);
}

// A loss that is summed has a row of log-probabilities for each label beside it: tiles would have rows of their own and
// add to one sum.
TEST(Tiling, WhatOneOutputFollowsAndAnotherSumsIsNotCut) {
  GraphBuilder builder("test");
  const TensorId scores = builder.input("scores", {8, 5});
  const TensorId labels = builder.input("labels", {8}, ElementType::int64);
  const Attributes sum = {{Attr::reduction, std::string("sum")}};
  for (TensorId id : builder.add_many(Op::SoftmaxCrossEntropyLoss, "loss", {scores, labels}, sum, 2))
    builder.output(id);
  EXPECT_TRUE(cuttable_loops(*builder.finish(), NodeId(0)).empty());
}

}  // namespace
}  // namespace monet::test
