// How long does it take to have a network: from a file, by number of nodes, and built in, by number of layers?
#include "networks/builtin.h"
#include "onnx/reader.h"
#include "support/onnx_builder.h"
#include "support/source_folder.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

namespace monet {
namespace {

// Reads a model of data/models.
void read_model(benchmark::State& state, const std::string& name) {
  const std::filesystem::path file = test::source_folder() / "data" / "models" / name;
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

BENCHMARK_CAPTURE(read_model, gpt2_small_flash, "gpt2_small_flash.onnx")->Unit(benchmark::kMillisecond);

// A chain of n nodes: the time for each must not grow with n.
void read_chain(benchmark::State& state) {
  test::OnnxModel model;
  const auto count = state.range(0);
  model.input("t0", {4, 8});
  for (std::int64_t i = 0; i < count; ++i) {
    model.node(i % 2 == 0 ? "Neg" : "Relu", {"t" + std::to_string(i)}, {"t" + std::to_string(i + 1)});
  }
  model.output("t" + std::to_string(count));
  const std::string bytes = model.bytes();
  for (auto _ : state) {
    const auto network = onnx::read_bytes(bytes, "", {});
    if (!network) state.SkipWithError(network.error().text().c_str());
  }
  state.SetComplexityN(count);
  state.counters["us_per_node"] = benchmark::Counter(
      static_cast<double>(count) * 1e-6, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(read_chain)->RangeMultiplier(4)->Range(1000, 256000)->Complexity()->Unit(benchmark::kMillisecond);

void build_gpt2(benchmark::State& state) {
  const std::string spec = "gpt2:layers=" + std::to_string(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(build_builtin(spec));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(build_gpt2)->RangeMultiplier(4)->Range(1, 256)->Complexity()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace monet
