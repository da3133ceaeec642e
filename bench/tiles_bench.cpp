// Time and memory of cutting a step into tiles.
#include "evaluate/tiles/build.h"
#include "graph/builder.h"
#include "networks/open.h"
#include "training/options.h"
#include "training/step.h"

#include <benchmark/benchmark.h>

#include <algorithm>

namespace monet {
namespace {

std::size_t bytes_of(const TileGraph& tiles) {
  std::size_t total = tiles.node.size() * sizeof(NodeId) + tiles.reads.size() * sizeof(TileRead) +
                      tiles.parts.size() * sizeof(ReadPart) + tiles.writes.size() * sizeof(TileWrite) +
                      tiles.buffers.size() * sizeof(Buffer) +
                      (tiles.first_read.size() + tiles.first_write.size() + tiles.first_buffer.size()) * 4;
  for (const OperatorTiles& operation : tiles.operators) {
    total += sizeof(operation);
    for (const GridAxis& axis : operation.axes) total += sizeof(axis) + axis.bounds.size() * 8 + axis.piece.size() * 4;
  }
  return total;
}

void report(benchmark::State& state, const TileGraph& tiles) {
  const auto count = static_cast<double>(tiles.tiles());
  state.counters["tiles"] = count;
  state.counters["reads"] = static_cast<double>(tiles.reads.size());
  state.counters["bytes/tile"] = static_cast<double>(bytes_of(tiles)) / count;
  state.counters["time/tile"] =
      benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// 3x3 convolutions one after the other over an image of `rows` rows, a tile for each row.
Graph convolution_chain(std::int64_t layers, std::int64_t rows) {
  GraphBuilder builder("chain");
  TensorId x = builder.input("x", {1, 16, rows, 32});
  const std::vector<std::int64_t> ones = {1, 1};
  const Attributes window = {{Attr::strides, ones},
                             {Attr::dilations, ones},
                             {Attr::pads, std::vector<std::int64_t>{1, 1, 1, 1}},
                             {Attr::group, std::int64_t{1}}};
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string name = "conv" + std::to_string(i);
    x = builder.add(Op::Conv, name, {x, builder.parameter(name + ".w", {16, 16, 3, 3})}, window);
  }
  builder.output(x);
  return *builder.finish();
}

void tile_convolution_chain(benchmark::State& state) {
  const std::int64_t rows = 1000;
  const Graph graph = convolution_chain(state.range(0) / rows, rows);
  const TilingGraph tiling(graph);
  Assignment assignment;
  assignment.operators.resize(graph.nodes().size());
  for (OperatorAssignment& operation : assignment.operators) {
    operation.cuts = {{.loop = Dim::OY, .pieces = 4, .tile = 1}};
  }
  for (auto _ : state) benchmark::DoNotOptimize(tiling.tiles(assignment));
  report(state, *tiling.tiles(assignment));
}
BENCHMARK(tile_convolution_chain)
    ->RangeMultiplier(10)
    ->Range(1000, 1'000'000)
    ->ArgName("tiles")
    ->Unit(benchmark::kMillisecond);

// The training step of a network, each operator cut into about `tiles` tiles along its longest loops that keep outputs
// apart.
void tile_training_step(benchmark::State& state, const std::string& model) {
  auto network = open_network(model, {.batch = 1});
  const auto step = training::make_training_step(*std::move(network), *training::step_options({}));
  const Graph& graph = step->graph;
  const TilingGraph tiling(graph);
  Assignment assignment;
  assignment.operators.resize(graph.nodes().size());
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const CuttableLoop* longest = nullptr;
    for (const CuttableLoop& loop : tiling.cuttable(NodeId(n))) {
      if (!loop.reduces && (longest == nullptr || loop.loop.size > longest->loop.size)) longest = &loop;
    }
    if (longest == nullptr) continue;
    const std::int64_t tile = std::max<std::int64_t>(1, longest->loop.size / state.range(0));
    assignment.operators[n].cuts = {{.loop = longest->loop.name, .pieces = 1, .tile = tile}};
  }
  for (auto _ : state) benchmark::DoNotOptimize(tiling.tiles(assignment));
  report(state, *tiling.tiles(assignment));
}
BENCHMARK_CAPTURE(tile_training_step, resnet18, "resnet18")
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->ArgName("tiles")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tile_training_step, gpt2, "gpt2")
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->ArgName("tiles")
    ->Unit(benchmark::kMillisecond);

// What no plan changes: nests, and views composed.
void prepare_training_step(benchmark::State& state) {
  auto network = open_network("resnet18", {.batch = 1});
  const auto step = training::make_training_step(*std::move(network), *training::step_options({}));
  for (auto _ : state) benchmark::DoNotOptimize(TilingGraph(step->graph));
}
BENCHMARK(prepare_training_step)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace monet
