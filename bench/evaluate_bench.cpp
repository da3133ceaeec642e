// A step in time: warm (graph, machine and mappings known, a plan to carry out), cold (nothing known), steps that
// differ little from each other, and the curve over tiles up to a million.
#include "evaluate/account/totals.h"
#include "evaluate/check/check.h"
#include "evaluate/evaluate.h"
#include "evaluate/open/hardware.h"
#include "graph/builder.h"
#include "networks/open.h"
#include "onnx/reader.h"
#include "training/options.h"
#include "training/quantized.h"
#include "training/recompute.h"
#include "training/step.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <optional>
#include <random>

namespace monet {
namespace {

// In 8 bits, all that the machines here know.
Graph training_step(const std::string& model, std::int64_t batch, const std::string& form = "fused") {
  TrainOptions options;
  options.optimizer_form = form;
  auto network = open_network(model, {.batch = batch});
  if (!network) return {};
  if (network->is_training_step) return training::all_in(ElementType::int8, std::move(network->graph));
  auto step = training::make_training_step(*std::move(network), *training::step_options(options));
  return step ? training::all_in(ElementType::int8, std::move(step->graph)) : Graph{};
}

void evaluate_warm(benchmark::State& state, const Graph& graph, const Hardware& hardware) {
  MappingCache cache;
  Evaluator evaluator(graph, hardware, cache, {});
  const PlanRequest request = empty_request(graph);
  auto first = evaluator.evaluate(request);
  if (!first) {
    state.SkipWithError(first.error().text().c_str());
    return;
  }
  for (auto _ : state) {
    const auto evaluated = evaluator.evaluate(request);
    benchmark::DoNotOptimize(totals(hardware, evaluated->schedule));
  }
  state.counters["nodes"] = static_cast<double>(graph.nodes().size());
  state.counters["tiles"] = static_cast<double>(first->tiles.tiles());
  state.counters["transfers"] = static_cast<double>(first->schedule.transfers.size());
}

void evaluate_cold(benchmark::State& state, const Graph& graph, const Hardware& hardware, std::size_t jobs) {
  for (auto _ : state) {
    MappingCache cache;
    Evaluator evaluator(graph, hardware, cache, {.jobs = jobs});
    benchmark::DoNotOptimize(evaluator.evaluate(empty_request(graph)));
  }
}

void ResNet18Warm(benchmark::State& state) {
  evaluate_warm(state, training_step("resnet18-cifar-folded", 4), *open_hardware("edge_tpu"));
}
BENCHMARK(ResNet18Warm)->Unit(benchmark::kMillisecond);

void ResNet18Cold(benchmark::State& state) {
  evaluate_cold(state, training_step("resnet18-cifar-folded", 4), *open_hardware("edge_tpu"),
                static_cast<std::size_t>(state.range(0)));
}
BENCHMARK(ResNet18Cold)->Unit(benchmark::kMillisecond)->Arg(1)->Arg(2)->UseRealTime();

// Element by element, as in the paper.
void PaperStepWarm(benchmark::State& state) {
  evaluate_warm(state, training_step("resnet18-cifar-folded", 4, "elementwise"), *open_hardware("monet_2x2"));
}
BENCHMARK(PaperStepWarm)->Unit(benchmark::kMillisecond);

void Gpt2SmallWarm(benchmark::State& state) {
  evaluate_warm(state, training_step("gpt2-small", 1), *open_hardware("monet_2x2"));
}
BENCHMARK(Gpt2SmallWarm)->Unit(benchmark::kMillisecond);

// Steps that recompute different tensors, one after the other, each rewritten and evaluated once: what a search over
// them does. With `shared`, what is known of operators is taken over; else each begins anew.
void recompute_neighbours(benchmark::State& state, const Graph& step, const Hardware& hardware, bool shared) {
  std::vector<TensorId> candidates;
  for (const training::SavedCandidate& saved : training::saved_candidates(step)) {
    if (saved.reason.empty()) candidates.push_back(saved.tensor);
  }
  MappingCache cache;
  const EvaluatorOptions options{.jobs = 1};
  const Evaluator base(step, hardware, cache, options);
  const training::Recomputation recomputation(step);
  std::mt19937 random(1);
  double nodes = 0;
  for (auto _ : state) {
    std::vector<TensorId> again;
    for (TensorId tensor : candidates) {
      if (random() % 2 == 0) again.push_back(tensor);
    }
    const auto rewritten = shared ? recomputation.with(again) : training::recompute(step, again);
    const Graph& graph = rewritten->graph;
    std::optional<Evaluator> evaluator;
    if (shared) {
      evaluator.emplace(graph, base);
    } else {
      evaluator.emplace(graph, hardware, cache, options);
    }
    const auto evaluated = evaluator->evaluate(empty_request(graph));
    if (!evaluated) {
      state.SkipWithError(evaluated.error().text().c_str());
      return;
    }
    benchmark::DoNotOptimize(totals(hardware, evaluated->schedule));
    nodes += static_cast<double>(graph.nodes().size());
  }
  state.counters["nodes"] = nodes / static_cast<double>(state.iterations());
  state.counters["saved"] = static_cast<double>(candidates.size());
}

void ResNet18Neighbours(benchmark::State& state) {
  recompute_neighbours(state, training_step("resnet18-224", 1), *open_hardware("monet_2x2"), state.range(0) != 0);
}
BENCHMARK(ResNet18Neighbours)->ArgName("shared")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void Gpt2SmallNeighbours(benchmark::State& state) {
  recompute_neighbours(state, training_step("gpt2-small", 1), *open_hardware("monet_2x2"), state.range(0) != 0);
}
BENCHMARK(Gpt2SmallNeighbours)->ArgName("shared")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// A stack of convolutions, cut by rows, on the machine of the paper's figures.
void FusedRows(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  constexpr int layers = 10;
  GraphBuilder builder("rows");
  TensorId x = builder.input("x", {1, 16, rows, 32}, ElementType::int8);
  for (int i = 0; i < layers; ++i) {
    const TensorId w = builder.parameter("w" + std::to_string(i), {16, 16, 3, 3}, ElementType::int8);
    Attributes attributes;
    attributes.set(Attr::strides, std::vector<std::int64_t>{1, 1});
    attributes.set(Attr::dilations, std::vector<std::int64_t>{1, 1});
    attributes.set(Attr::pads, std::vector<std::int64_t>{1, 1, 1, 1});
    attributes.set(Attr::group, std::int64_t{1});
    x = builder.add(Op::Conv, "conv" + std::to_string(i), {x, w}, attributes);
  }
  builder.output(x);
  const Graph graph = *builder.finish();
  const Hardware hardware = *open_hardware("monet_2x2");
  MappingCache cache;
  Evaluator evaluator(graph, hardware, cache, {});
  PlanRequest request = empty_request(graph);
  request.plan.stacks.push_back({});
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    request.plan.stacks[0].nodes.push_back(NodeId(n));
    request.plan.operators[n].stack = 0;
    request.plan.operators[n].cuts = {{Dim::OY, 1, 1}};
    request.plan.operators[n].split_stated = true;
    request.plan.operators[n].cores = {CoreId(n % 4)};
  }
  std::size_t tiles = 0;
  for (auto _ : state) {
    const auto evaluated = evaluator.evaluate(request);
    if (!evaluated) {
      state.SkipWithError(evaluated.error().text().c_str());
      return;
    }
    tiles = evaluated->tiles.tiles();
    benchmark::DoNotOptimize(totals(hardware, evaluated->schedule));
  }
  state.counters["tiles"] = static_cast<double>(tiles);
  state.counters["us_a_tile"] = benchmark::Counter(
      static_cast<double>(tiles) * 1e-6, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.SetComplexityN(static_cast<std::int64_t>(tiles));
}
BENCHMARK(FusedRows)->Unit(benchmark::kMillisecond)->RangeMultiplier(10)->Range(100, 100'000)->Complexity();

// ResNet-18 with its data at home on a card, through the 256 KiB of a microcontroller: warm, and with nothing known.
void StreamedThrough256KiB(benchmark::State& state) {
  const bool cold = state.range(0) != 0;
  TrainOptions options;
  options.optimizer = "sgd";
  auto network = open_network("resnet18-cifar", {.batch = 1});
  auto step = training::make_training_step(*std::move(network), *training::step_options(options));
  const Graph graph = std::move(step->graph);
  const Hardware hardware = *open_hardware("poet_m4f");
  MappingCache cache;
  const EvaluatorOptions how{.home = *home_choice(hardware, "storage")};
  std::optional<Evaluator> evaluator(std::in_place, graph, hardware, cache, how);
  PlanRequest request = empty_request(graph);
  request.plan.order = PlanOrder::graph;
  std::size_t tiles = 0, transfers = 0;
  for (auto _ : state) {
    if (cold) evaluator.emplace(graph, hardware, cache, how);
    const auto evaluated = evaluator->evaluate(request);
    if (!evaluated) {
      state.SkipWithError(evaluated.error().text().c_str());
      return;
    }
    tiles = evaluated->tiles.tiles();
    transfers = evaluated->schedule.transfers.size();
    benchmark::DoNotOptimize(totals(hardware, evaluated->schedule));
  }
  state.counters["tiles"] = static_cast<double>(tiles);
  state.counters["transfers"] = static_cast<double>(transfers);
}
BENCHMARK(StreamedThrough256KiB)->ArgName("cold")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace monet
