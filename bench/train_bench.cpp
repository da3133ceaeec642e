// How long does it take to make a training step: of real networks, and of chains by number of nodes?
#include "graph/builder.h"
#include "networks/open.h"
#include "support/source_folder.h"
#include "training/step.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

namespace monet {
namespace {

// From the file to the finished step.
void train_model(benchmark::State& state, const std::string& name) {
  const std::filesystem::path file = test::source_folder() / "data" / "models" / name;
  std::size_t nodes = 0;
  for (auto _ : state) {
    auto network = open_network(file.string(), {});
    if (!network) {
      state.SkipWithError(network.error().text().c_str());
      return;
    }
    const auto step = training::make_training_step(*std::move(network), {});
    if (!step) {
      state.SkipWithError(step.error().text().c_str());
      return;
    }
    nodes = step->graph.nodes().size();
  }
  state.counters["nodes"] = static_cast<double>(nodes);
}
BENCHMARK_CAPTURE(train_model, resnet18, "resnet18.onnx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(train_model, resnet50, "resnet50.onnx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(train_model, gpt2_small, "gpt2_small.onnx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(train_model, gpt2_small_flash, "gpt2_small_flash.onnx")->Unit(benchmark::kMillisecond);

// A chain of n layers, each a product and an activation: the time for each must not grow with n.
void train_chain(benchmark::State& state) {
  const auto layers = state.range(0) / 2;
  GraphBuilder builder("chain");
  TensorId x = builder.input("x", {4, 8});
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const TensorId weight = builder.parameter(name + ".weight", {8, 8});
    x = builder.add(Op::MatMul, name, {x, weight},
                    {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{1}}, {Attr::alpha, 1.0}});
    x = builder.add(Op::Relu, name + ".relu", {x});
  }
  builder.output(x);
  const auto graph = builder.finish();
  for (auto _ : state) {
    const auto step = training::make_training_step({*graph, false, {}, {}}, {});
    if (!step) state.SkipWithError(step.error().text().c_str());
  }
  state.SetComplexityN(state.range(0));
  state.counters["us_per_node"] =
      benchmark::Counter(static_cast<double>(state.range(0)) * 1e-6,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(train_chain)->RangeMultiplier(4)->Range(400, 102400)->Complexity()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace monet
