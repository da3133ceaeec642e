// Is what must be kept across a moment really kept by every way to run the step? Against all tiles of the finest cut.
#include "evaluate/account/kept_across.h"
#include "evaluate/tiles/build.h"
#include "evaluate/tiles_cases.h"
#include "support/random_step.h"

#include <gtest/gtest.h>

namespace monet::test {

namespace {

// Every operator cut into single iterations of all its loops, sums too.
Assignment finest(const Graph& graph, const TilingGraph& tiling) {
  Assignment assignment;
  assignment.operators.resize(graph.nodes().size());
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    for (const CuttableLoop& loop : tiling.cuttable(NodeId(n))) {
      assignment.operators[n].cuts.push_back({.loop = loop.loop.name, .pieces = 1, .tile = 1});
    }
  }
  return assignment;
}

class FinestTiles {
 public:
  FinestTiles(const Graph& graph, const TileGraph& tiles)
      : graph_(graph), tiles_(tiles), before_(tiles.tiles()), writers_(tiles.buffers.size()) {
    for (std::size_t t = 0; t < tiles.tiles(); ++t) {
      for (const TileRead& read : tiles.reads_of(TileId(t))) {
        const auto& made_by = writers_[read.buffer.index()];
        before_[t].insert(before_[t].end(), made_by.begin(), made_by.end());
      }
      for (const TileWrite& write : tiles.writes_of(TileId(t))) {
        auto& chain = writers_[write.buffer.index()];
        before_[t].insert(before_[t].end(), chain.begin(), chain.end());
        chain.push_back(t);
      }
    }
  }

  // Made or read for the last tile of `buffer`, and read by a tile that needs it: what has to be kept when it is there.
  KeptAcross kept_at(BufferId buffer) const {
    const std::size_t last = tiles_.buffers[buffer.index()].maker.index();
    std::vector<bool> needed(tiles_.tiles(), false), later(tiles_.tiles(), false);
    needed[last] = later[last] = true;
    for (std::size_t t = last + 1; t-- > 0;) {
      if (!needed[t]) continue;
      for (const std::size_t other : before_[t]) needed[other] = true;
    }
    for (std::size_t t = last + 1; t < tiles_.tiles(); ++t) {
      for (const std::size_t other : before_[t]) later[t] = later[t] || later[other];
    }
    std::vector<bool> there(tiles_.buffers.size(), false), counted(tiles_.buffers.size(), false);
    for (std::size_t t = 0; t < tiles_.tiles(); ++t) {
      if (!needed[t]) continue;
      for (const TileRead& read : tiles_.reads_of(TileId(t))) there[read.buffer.index()] = true;
      for (const TileWrite& write : tiles_.writes_of(TileId(t))) there[write.buffer.index()] = true;
    }
    KeptAcross kept;
    for (std::size_t t = last + 1; t < tiles_.tiles(); ++t) {
      if (!later[t]) continue;
      for (const TileRead& read : tiles_.reads_of(TileId(t))) {
        const std::size_t id = read.buffer.index();
        if (!there[id] || counted[id]) continue;
        counted[id] = true;
        const Buffer& each = tiles_.buffers[id];
        (each.maker.valid() ? kept.made_bits : kept.given_bits) += 8.0 * static_cast<double>(each.bytes);
      }
    }
    return kept;
  }

 private:
  const Graph& graph_;
  const TileGraph& tiles_;
  std::vector<std::vector<std::size_t>> before_;   // by tile
  std::vector<std::vector<std::size_t>> writers_;  // by buffer
};

struct Tally {
  int graphs = 0, moments = 0, found = 0;
};

void compare(const Graph& graph, unsigned seed, Tally& tally) {
  const TilingGraph tiling(graph);
  const auto tiles = tiling.tiles(finest(graph, tiling), {.element_bits = {}, .max_tiles = 4000, .max_reads = 200'000});
  if (!tiles) return;  // too many for brute force
  ++tally.graphs;
  std::vector<double> bits(graph.tensors().size(), 0);
  for (const Buffer& buffer : tiles->buffers) bits[buffer.tensor.index()] += 8.0 * static_cast<double>(buffer.bytes);
  const FinestTiles exact(graph, *tiles);
  const Dependence dependence(graph);
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph[NodeId(n)];
    if (family_of(node.op) == OpFamily::view) continue;
    const KeptAcross claimed = kept_at(graph, dependence, bits, NodeId(n));
    ++tally.moments;
    if (claimed.made_bits + claimed.given_bits == 0) continue;
    ++tally.found;
    const std::size_t output = node.outputs.front().index();
    for (std::size_t b = tiles->first_buffer[output]; b < tiles->first_buffer[output + 1]; ++b) {
      const KeptAcross kept = exact.kept_at(BufferId(b));
      ASSERT_LE(claimed.made_bits, kept.made_bits + 1e-6) << "seed " << seed << ", " << node.name;
      ASSERT_LE(claimed.given_bits, kept.given_bits + 1e-6) << "seed " << seed << ", " << node.name;
    }
  }
}

}  // namespace

TEST(KeptAcross, IsNeverMoreThanTheFinestTilesKeep) {
  Tally tally;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const auto graph = TileCase(seed).make();
    ASSERT_TRUE(graph);
    compare(*graph, seed, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.graphs, 200);
  EXPECT_GT(tally.found, 50);
}

TEST(KeptAcross, IsNeverMoreThanStepsKeep) {
  Tally tally;
  for (unsigned seed = 1; seed <= 150; ++seed) {
    const auto step = random_step(seed);
    if (!step) continue;
    compare(*step, seed, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.graphs, 50);
  EXPECT_GT(tally.found, 50);
}

// y = relu(x·a)·b and the way back, when one element of y is there.
KeptAcross kept_of_two_layers(std::int64_t batch) {
  constexpr std::int64_t inputs = 3, hidden = 5, outputs = 2;
  GraphBuilder builder("two layers");
  const TensorId x = builder.input("x", {batch, inputs});
  const TensorId a = builder.parameter("a", {inputs, hidden}), b = builder.parameter("b", {hidden, outputs});
  const Attributes plain = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  const TensorId h = builder.add(Op::Relu, "relu", {builder.add(Op::MatMul, "first", {x, a}, plain)});
  builder.output(builder.add(Op::MatMul, "second", {h, b}, plain));
  const auto step = training::make_training_step(
      {*builder.finish(), false, {}, {}},
      {.loss = {.kind = training::LossKind::mean_squared_error}, .optimizer = {.kind = training::OptimizerKind::sgd}});
  const Graph& graph = step->graph;
  std::vector<double> elements;
  for (const Tensor& tensor : graph.tensors()) {
    elements.push_back(static_cast<double>(element_count(tensor.type.shape)));
  }
  std::size_t second = 0;
  while (graph.nodes()[second].name != "second") ++second;
  return kept_at(graph, Dependence(graph), elements, NodeId(second));
}

TEST(KeptAcross, OfASingleSampleAllThatIsReadAgain) {
  const KeptAcross kept = kept_of_two_layers(1);
  EXPECT_EQ(kept.made_bits, 5);        // relu's result, for its gradient
  EXPECT_EQ(kept.given_bits, 3 + 15);  // x for the gradient of a, and a itself, which is updated
}

// Its way back may be over before another sample's way there begins.
TEST(KeptAcross, NothingOfSeveralSamplesThatMeetInUpdatesAlone) {
  const KeptAcross kept = kept_of_two_layers(4);
  EXPECT_EQ(kept.made_bits, 0);
  EXPECT_EQ(kept.given_bits, 15);  // a, which is updated when its gradient is the sum over all samples
}

}  // namespace monet::test
