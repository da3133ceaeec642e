// Many machines for one step: designs a second on a fixed sample of the Edge-TPU family, with the mappings shared
// between them, on one and two threads; the curve over the size of the sample; and as the ratio to that with nothing
// shared.
#include "base/parallel.h"
#include "evaluate/account/totals.h"
#include "evaluate/evaluate.h"
#include "evaluate/open/family.h"
#include "evaluate/open/hardware.h"
#include "evaluate/open/opened_step.h"

#include <benchmark/benchmark.h>

#include <random>

namespace monet {
namespace {

const Graph& explored_step() {
  static const Graph graph = [] {
    StepRequest options;
    options.train.batch = 4;
    auto step = open_step("resnet18-cifar-folded", options, false);
    return step ? std::move(step->graph) : Graph{};
  }();
  return graph;
}

// The same ones for every run: a larger sample begins with the smaller one.
std::vector<HardwareOptions> sampled_designs(std::size_t count) {
  std::mt19937 random(1);
  const auto pick = [&](const std::vector<std::string>& values) { return values[random() % values.size()]; };
  std::vector<HardwareOptions> designs(count);
  for (HardwareOptions& design : designs) {
    design.parameters.emplace_back("x", pick({"1", "2", "4", "6", "8"}));
    design.parameters.emplace_back("y", pick({"1", "2", "4", "6", "8"}));
    design.parameters.emplace_back("simd", pick({"16", "32", "64", "128"}));
    design.parameters.emplace_back("lanes", pick({"1", "2", "4", "8"}));
    design.parameters.emplace_back("pe_memory", pick({"512 KiB", "1 MiB", "2 MiB", "3 MiB", "4 MiB"}));
    design.parameters.emplace_back("register_file", pick({"8 KiB", "16 KiB", "32 KiB", "48 KiB", "64 KiB"}));
  }
  return designs;
}

double cycles_of(const Hardware& hardware, MappingCache& cache) {
  Evaluator evaluator(explored_step(), hardware, cache, {.jobs = 1});
  const auto evaluated = evaluator.evaluate(empty_request(explored_step()));
  return evaluated ? totals(hardware, evaluated->schedule).cycles : 0;
}

// By size of the sample and threads.
void explore_edge_tpu(benchmark::State& state) {
  const std::vector<HardwareOptions> designs = sampled_designs(static_cast<std::size_t>(state.range(0)));
  std::size_t mappings = 0;
  for (auto _ : state) {
    MappingCache cache;
    const auto family = HardwareFamily::open("edge_tpu");
    if (!family) return state.SkipWithError(family.error().text().c_str());
    for_each_index(designs.size(), static_cast<std::size_t>(state.range(1)), [&](std::size_t i) {
      if (const auto hardware = family->with(designs[i])) benchmark::DoNotOptimize(cycles_of(*hardware, cache));
    });
    mappings = cache.size();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["mappings"] = static_cast<double>(mappings);
}
BENCHMARK(explore_edge_tpu)
    ->ArgsProduct({{10, 40, 160, 640}, {1, 2}})
    ->ArgNames({"designs", "threads"})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// Every design by itself: the file, and all mappings, anew.
void explore_edge_tpu_apart(benchmark::State& state) {
  const std::vector<HardwareOptions> designs = sampled_designs(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (const HardwareOptions& design : designs) {
      MappingCache cache;
      if (const auto hardware = open_hardware("edge_tpu", design)) {
        benchmark::DoNotOptimize(cycles_of(*hardware, cache));
      }
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(explore_edge_tpu_apart)->Arg(10)->ArgName("designs")->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace monet
