// Steps of many chips: made and priced from a network, and another setting of a chip's step that is known.
#include "evaluate/kernels/exchange_line.h"
#include "evaluate/kernels/kernel_step.h"
#include "evaluate/open/hardware.h"
#include "networks/builtin.h"
#include "parallel/recipe.h"
#include "training/step.h"

#include <benchmark/benchmark.h>

namespace monet {
namespace {

constexpr const char* network_name = "llama3-8b:tokens=8192";

Graph whole_step(std::int64_t batch) {
  auto step = training::make_training_step({*build_builtin(network_name, batch), false, {}, {}}, {});
  return std::move(step->graph);
}

// By chips: what a step costs must not depend on them.
void split_and_time(benchmark::State& state) {
  const Hardware hardware = *open_hardware("dgx_h100", {});
  const std::int64_t dp = state.range(0) / 8;
  const Graph whole = whole_step(dp);
  const auto options = *parallel::parse_parallel("tp=8,zero=1,dp=" + std::to_string(dp));
  const ChipNetwork network = *network_of(hardware, options.mesh, true);
  for (auto _ : state) {
    auto split = parallel::parallel_step(whole, options);
    benchmark::DoNotOptimize(kernel_step(std::move(split->graph), **laws_of(hardware), false, &network));
  }
}
BENCHMARK(split_and_time)->Arg(8)->Arg(80)->Arg(10240)->Unit(benchmark::kMillisecond);

void another_setting(benchmark::State& state) {
  const Hardware hardware = *open_hardware("dgx_h100", {});
  const auto options = *parallel::parse_parallel("tp=8,zero=1,dp=16");
  const ChipNetwork network = *network_of(hardware, options.mesh, true);
  auto split = parallel::parallel_step(whole_step(16), options);
  const KernelStep step = kernel_step(std::move(split->graph), **laws_of(hardware), false, &network);
  const ExchangeLine line = exchange_line(step.graph, step.lowered, step.costs);
  LineTimes times(line);
  for (auto _ : state) benchmark::DoNotOptimize(times.total_us(network));
  state.counters["launches"] = static_cast<double>(step.lowered.launches.size());
  state.counters["items"] = static_cast<double>(line.items.size());
}
BENCHMARK(another_setting)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace monet
