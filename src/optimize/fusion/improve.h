// Better stacks by evaluating the whole step: what a set costs by itself does not say what it costs among others.
#pragma once

#include "optimize/fusion/choose.h"

#include <optional>

namespace monet::fusion {

// A stack of the plan, and which of its prices' ways it is tiled by; no_way: not cut.
struct Stack {
  std::uint32_t set = 0;
  std::uint32_t way = 0;
  bool operator==(const Stack&) const = default;
};
constexpr std::uint32_t no_way = 0xffffffffU;
using Stacks = std::vector<Stack>;  // every operator once, by first operator

struct StepCost {
  Cost cost;
  std::size_t tiles = 0;
  std::vector<std::int64_t> live_peak_bytes;  // by memory
};

// A step, and what the plan says beside its stacks.
struct Step {
  const Graph& graph;
  const Hardware& hardware;
  const Problem& problem;
  const Candidates& candidates;
  const Prices& prices;
  PlanRequest base;  // without stacks
};

// The request with these stacks; tiles that the base states stay.
PlanRequest request_of(const Step& step, const Stacks& stacks);

// What is made small of the whole step; none: its objective.
using StepValue = std::function<double(const StepCost&)>;

struct ImproveOptions {
  Objective objective = Objective::latency;
  StepValue value;
  EvaluatorOptions evaluator;
  bool sets = true;                  // else only tiles are changed
  std::size_t tile_budget = 100000;  // evaluated in all, beginning included: as long as the same plan, for any machine
  std::function<bool()> stop;
  std::function<void(std::size_t evaluated, double value)> progress;
};

struct Improved {
  Stacks stacks;
  StepCost cost;
  std::size_t evaluated = 0;
};

// The best of `starts` (those that can run), then local improvement: other tiles for all stacks of equal content, their
// operators one by one or in two parts, neighbours merged, an operator moved to a neighbour. A step is taken only when
// the evaluation of the whole step gets better. Fails with the first start's error when no start can run.
// The same result for any number of threads.
Expected<Improved> improve(const Step& step, MappingCache& cache, std::span<const Stacks> starts,
                           const ImproveOptions& options);

}  // namespace monet::fusion
