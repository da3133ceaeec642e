// Rematerialization: the public instances against their best known values, and the curve over sizes.
#include "remat/bound.h"
#include "remat/reader.h"
#include "remat/remat_cases.h"
#include "remat/search.h"
#include "support/shared.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace monet {
namespace {

struct RematInstance {
  const char* file;
  double part;
  double best_percent;  // extra time of the best known schedule in the given order, from the table beside the instances
};

constexpr RematInstance remat_instances[] = {
    {"VGG16_MLSys_256_224_224_3_train_nx.json", 0.9, 1.968},
    {"fcn_8_vgg_MLSys_32_416_608_3_train_nx.json", 0.9, 0.0294},
    {"fcn_8_vgg_MLSys_32_416_608_3_train_nx.json", 0.8, 0.1361},
    {"vgg_unet_MLSys_32_416_608_3_train_nx.json", 0.9, 1.129},
    {"vgg_unet_MLSys_32_416_608_3_train_nx.json", 0.8, 1.984},
    {"random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", 0.9, 0.789},
    {"random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", 0.8, 2.296},
    {"random_layered_n500_w0.36_nlv0.75_ed0.2_scd0.14.json", 0.9, 0.701},
    {"random_layered_n500_w0.36_nlv0.75_ed0.2_scd0.14.json", 0.8, 3.105},
};

remat::SearchResult search_once(const remat::Problem& problem, double part, std::size_t patience, double enough) {
  const remat::Goal goal{
      .budget = static_cast<std::int64_t>(std::ceil(part * static_cast<double>(remat::base_peak_bytes(problem))))};
  const remat::Sequence start = remat::first_runs(problem);
  return remat::search(problem, goal, std::span(&start, 1), {.jobs = 1, .patience = patience, .enough = enough});
}

// The time to the best known value, on one thread.
void remat_instance(benchmark::State& state) {
  const RematInstance& row = remat_instances[state.range(0)];
  std::ifstream file(test::shared_folder() / "reference/instances/remat" / row.file);
  std::stringstream text;
  text << file.rdbuf();
  const auto graph = remat::read_graph(text.str(), row.file, nullptr);
  if (!graph) return state.SkipWithError("the instance is absent; set MONET_SHARED");
  const double base = remat::base_time(graph->problem);
  constexpr double rounding_percent = 0.0006;
  const double enough = base * (1 + (row.best_percent + rounding_percent) / 100);
  remat::SearchResult result;
  for (auto _ : state) result = search_once(graph->problem, row.part, 40, enough);
  state.SetLabel(std::string(row.file).substr(0, 20) + (result.value.price <= enough ? "" : ": not reached"));
  state.counters["extra_percent"] = 100 * (result.value.price / base - 1);
  state.counters["best_known"] = row.best_percent;
}
BENCHMARK(remat_instance)->DenseRange(0, 8)->Unit(benchmark::kMillisecond);

// The first schedule and two rounds of improvement, over the number of nodes.
void remat_layered(benchmark::State& state) {
  const remat::Problem problem = test::random_layered(1, static_cast<remat::NodeIndex>(state.range(0)), 0.3);
  remat::SearchResult result;
  for (auto _ : state) result = search_once(problem, 0.9, 1, 0);
  state.counters["extra_percent"] = 100 * (result.value.price / remat::base_time(problem) - 1);
}
BENCHMARK(remat_layered)->RangeMultiplier(2)->Range(64, 2048)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace monet
