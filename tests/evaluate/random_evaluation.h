// One random step on one random machine by one random plan, from one number.
#pragma once

#include "base/try.h"
#include "evaluate/account/totals.h"
#include "evaluate/check/kernels.h"
#include "evaluate/evaluate.h"
#include "evaluate/plan/bind_tensors.h"
#include "evaluate/random_hardware.h"
#include "evaluate/random_plan.h"
#include "hardware/reader.h"
#include "support/in_bytes.h"
#include "support/random_network.h"
#include "training/recompute.h"

#include <monet/evaluate.h>

#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace monet::test {

struct RandomEvaluation {
  Graph graph;  // what is to be recomputed is
  Hardware hardware;
  Plan plan;
  std::vector<std::pair<TensorId, MemoryId>> paged;
};

// A graph as a plan wants it.
inline Expected<RandomEvaluation> carried_out(const Graph& original, Hardware hardware, Plan plan) {
  RandomEvaluation result{.graph = original, .hardware = std::move(hardware), .plan = std::move(plan), .paged = {}};
  MONET_TRY(const std::vector<BoundTensor> tensors, bind_tensors(result.plan, original, result.hardware));
  std::vector<TensorId> now;
  for (std::size_t i = 0; i < original.tensors().size(); ++i) now.emplace_back(i);
  if (const std::vector<TensorId> again = recomputed(tensors); !again.empty()) {
    MONET_TRY(training::Recomputed rewritten, training::recompute(original, again));
    result.graph = std::move(rewritten.graph);
    now = std::move(rewritten.tensors);
  }
  for (const BoundTensor& tensor : tensors) {
    if (tensor.retention != Retention::page || !now[tensor.tensor.index()].valid()) continue;
    result.paged.emplace_back(now[tensor.tensor.index()], tensor.memory);
  }
  return result;
}

// On `machine`, if there is one.
inline Expected<RandomEvaluation> random_evaluation(std::uint64_t seed, std::optional<Hardware> machine = {}) {
  Random random(seed);
  MONET_TRY(Graph graph, random_step(random));
  if (!machine) {
    MONET_TRY(machine, read_hardware_text(RandomHardware(random).make(), "random.yaml"));
  }
  graph = in_numbers_of(*machine, std::move(graph));
  Plan plan;
  plan.tensors = random_tensors(random, graph, *machine);
  MONET_TRY(RandomEvaluation result, carried_out(graph, *std::move(machine), plan));
  result.plan = RandomPlan(random, result.graph, result.hardware).make();
  return result;
}

inline EvaluatorOptions quick_options(std::size_t jobs = 1) {
  EvaluatorOptions options;
  options.cost.search.factors = 3;
  options.jobs = jobs;
  return options;
}

inline Expected<Evaluated> evaluate(Evaluator& evaluator, const RandomEvaluation& example) {
  MONET_TRY(PlanRequest request, evaluator.bind(example.plan));
  for (const auto& [tensor, memory] : example.paged) {
    request.paged.resize(example.graph.tensors().size());
    request.paged[tensor.index()] = memory;
  }
  return evaluator.evaluate(request);
}

inline double sum_of(const Parts& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double so_far, const auto& part) { return so_far + part.second; });
}

// What the checker finds; that a home memory or storage is too small for the step is not a defect of its schedule.
inline CheckReport check(Evaluator& evaluator, const Evaluated& result) {
  if (result.kernels) return check_kernels(evaluator.graph(), evaluator.machine().hardware(), *result.kernels);
  const Hardware& hardware = evaluator.machine().hardware();
  const std::vector<std::int64_t> peaks = live_peaks(hardware.memories.size(), result.schedule);
  CheckOptions options{.streams = evaluator.counts_streams(), .element_bits = evaluator.element_bits()};
  for (std::size_t m = 0; m < peaks.size(); ++m) {
    const bool unbounded = evaluator.machine().is_home(MemoryId(m)) || hardware.memories[m].kind == MemoryKind::storage;
    if (unbounded && peaks[m] > hardware.memories[m].size_bits / 8) options.too_small.emplace_back(m);
  }
  return check_schedule(evaluator.graph(), hardware, result.assignment, result.tiles, result.schedule, options);
}

}  // namespace monet::test
