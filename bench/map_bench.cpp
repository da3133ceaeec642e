// Our own search: one operator, the different layers of a network, a whole training step.
#include "evaluate/open/hardware.h"
#include "mapping/machines.h"
#include "mapping/operators.h"
#include "mapping/search.h"
#include "networks/open.h"
#include "training/options.h"
#include "training/step.h"

#include <benchmark/benchmark.h>

namespace monet {
namespace {

// The 12 different layers of ResNet-18 at 224 x 224: output and input channels, map, filter, stride.
std::vector<Problem> resnet18_layers() {
  using test::convolution;
  return {convolution(64, 3, 112, 112, 7, 2),  convolution(64, 64, 56, 56, 3),   convolution(128, 64, 28, 28, 3, 2),
          convolution(128, 64, 28, 28, 1, 2),  convolution(128, 128, 28, 28, 3), convolution(256, 128, 14, 14, 3, 2),
          convolution(256, 128, 14, 14, 1, 2), convolution(256, 256, 14, 14, 3), convolution(512, 256, 7, 7, 3, 2),
          convolution(512, 256, 7, 7, 1, 2),   convolution(512, 512, 7, 7, 3),   convolution(1000, 512, 1, 1, 1)};
}

// One search of all layers, each alone; the argument is the objective, then the number of pieces.
void map_resnet18_layers(benchmark::State& state) {
  const std::vector<Problem> layers = resnet18_layers();
  const Target target = test::tpu_like();
  SearchOptions options;
  options.objective = static_cast<Objective>(state.range(0));
  options.factors = static_cast<std::size_t>(state.range(1));
  double cycles = 0;
  for (auto _ : state) {
    cycles = 0;
    for (const Problem& layer : layers) cycles += map_problem(layer, target, options)->cost.cycles;
  }
  state.counters["cycles"] = cycles;
}
BENCHMARK(map_resnet18_layers)
    ->ArgsProduct({{0, 1, 2}, {5, 6, 7, 8}})
    ->ArgNames({"objective", "factors"})
    ->Unit(benchmark::kMillisecond);

// Mappings that are costed in a second, by costing one again and again.
void cost_one_mapping(benchmark::State& state) {
  const Problem layer = test::convolution(128, 128, 28, 28, 3);
  const Target target = test::tpu_like();
  const Mapping mapping = map_problem(layer, target)->mapping;
  for (auto _ : state) benchmark::DoNotOptimize(cost_of(layer, target, mapping));
}
BENCHMARK(cost_one_mapping)->Unit(benchmark::kMicrosecond);

// All operators of the training step of ResNet-18, nothing known before; the argument is the number of threads.
void map_training_step(benchmark::State& state) {
  auto network = open_network("resnet18", {.batch = 1});
  auto step = training::make_training_step(*std::move(network), *training::step_options({}));
  const auto hardware = open_hardware("edge_tpu");
  OperatorOptions options;
  options.jobs = static_cast<std::size_t>(state.range(0));
  double unique = 0;
  for (auto _ : state) {
    MappingCache cache;
    const auto mapped = map_operators(step->graph, *hardware, cache, options);
    unique = static_cast<double>(mapped->unique);
  }
  state.counters["different"] = unique;
}
BENCHMARK(map_training_step)->Arg(1)->Arg(2)->ArgName("jobs")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace monet
