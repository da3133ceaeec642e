// How long does it take to have a network: from a file, by number of nodes, and built in, by number of layers?
#include "networks/builtin.h"
#include "onnx/reader.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace monet {
namespace {

std::filesystem::path models_folder() {
  if (const char* folder = std::getenv("MONET_SHARED")) return std::filesystem::path(folder) / "models";
  return std::filesystem::path(MONET_SOURCE_DIR).parent_path() / "shared" / "models";
}

void read_model(benchmark::State& state, const std::string& name) {
  const std::filesystem::path file = models_folder() / name;
  if (!std::filesystem::exists(file)) {
    state.SkipWithError("the file is absent; set MONET_SHARED");
    return;
  }
  std::size_t nodes = 0;
  for (auto _ : state) {
    const auto network = onnx::read(file.string(), {});
    if (!network) {
      state.SkipWithError(network.error().text().c_str());
      return;
    }
    nodes = network->graph.nodes().size();
  }
  state.counters["nodes"] = static_cast<double>(nodes);
}
BENCHMARK_CAPTURE(read_model, mlp_robotics, "mlp_robotics.onnx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_model, resnet18, "resnet18.onnx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_model, resnet50, "resnet50.onnx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_model, resnet50_dynamo, "resnet50.dynamo.onnx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_model, bert_base, "bert_base.onnx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_model, gpt2_small, "gpt2_small.onnx")->Unit(benchmark::kMillisecond);

void build_gpt2(benchmark::State& state) {
  const std::string spec = "gpt2:layers=" + std::to_string(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(build_builtin(spec));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(build_gpt2)->RangeMultiplier(4)->Range(1, 256)->Complexity()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace monet
