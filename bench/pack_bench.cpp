// Packing: the public instances against the public program, and the curve over sizes.
#include "packing/csv.h"
#include "packing/packing.h"
#include "support/shared.h"

#include <benchmark/benchmark.h>

#include <fstream>
#include <random>
#include <sstream>

namespace monet {
namespace {

std::vector<PackItem> instance(const std::string& name) {
  std::ifstream file(test::shared_folder() / "reference/instances/packing" / name);
  std::stringstream text;
  text << file.rdbuf();
  const auto table = read_pack_csv(text.str(), name);
  return table ? table->items : std::vector<PackItem>{};
}

// CPU seconds of MiniMalloc's own program for A to F on a 2.8 GHz core, from the table beside the instances.
constexpr double public_seconds[] = {8.4, 5.3, 1.0, 4.7, 5.6, 8.9};

// The argument is the instance; "times_faster" compares with the program above.
void pack_minimalloc(benchmark::State& state) {
  const auto number = static_cast<std::size_t>(state.range(0));
  const std::string letter(1, static_cast<char>('A' + number));
  const std::vector<PackItem> items = instance("minimalloc_" + letter + ".1048576.csv");
  if (items.empty()) return state.SkipWithError("the instance is absent; set MONET_SHARED");
  PackResult result;
  for (auto _ : state) result = pack(items, {.capacity = 1048576});
  state.SetLabel(letter + (result.placed ? "" : ": not placed"));
  state.counters["steps"] = static_cast<double>(result.work);
  state.counters["times_faster"] =
      benchmark::Counter(public_seconds[number], benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(pack_minimalloc)->DenseRange(0, 5)->Unit(benchmark::kMillisecond);

void pack_idealloc(benchmark::State& state) {
  const std::string name = state.range(0) == 0 ? "idealloc_resnet50.csv" : "idealloc_S_1.csv";
  const std::vector<PackItem> items = instance(name);
  if (items.empty()) return state.SkipWithError("the instance is absent; set MONET_SHARED");
  PackResult result;
  for (auto _ : state) result = pack(items);
  state.SetLabel(name);
  const auto load = static_cast<double>(max_load(items));
  state.counters["percent_over_load"] = 100 * (static_cast<double>(result.peak) / load - 1);
}
BENCHMARK(pack_idealloc)->DenseRange(0, 1)->Unit(benchmark::kMillisecond);

// A training step: each layer's activation lives from forward to backward, its workspace for a moment, its weights for
// all of it. The argument is the number of buffers.
std::vector<PackItem> training_step(std::int64_t buffers) {
  std::mt19937 random(1);
  const std::int64_t layers = buffers / 8, end = 2 * layers;
  const auto size = [&](std::int64_t most) {
    return 256 * std::uniform_int_distribution<std::int64_t>(1, most)(random);
  };
  std::vector<PackItem> items;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::int64_t back = end - 1 - layer;
    items.push_back({0, end, size(100), 256});
    items.push_back({layer, back + 1, size(1000), 256});
    for (const std::int64_t time : {layer, layer, back, back, back, back})
      items.push_back({time, time + 2, size(1000), 256});
  }
  return items;
}

// Without search: n log n.
void pack_training_step(benchmark::State& state) {
  const std::vector<PackItem> items = training_step(state.range(0));
  PackResult result;
  for (auto _ : state) result = pack(items, {.effort = 0});
  const auto load = static_cast<double>(max_load(items));
  state.counters["percent_over_load"] = 100 * (static_cast<double>(result.peak) / load - 1);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items.size()));
}
BENCHMARK(pack_training_step)->RangeMultiplier(4)->Range(1 << 10, 1 << 18)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace monet
