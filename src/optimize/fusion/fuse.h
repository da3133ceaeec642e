// Stacks and tiles for a whole step.
#pragma once

#include "optimize/fusion/improve.h"

#include <monet/expected.h>
#include <monet/plan.h>

#include <string>
#include <vector>

namespace monet::fusion {

struct FuseSettings {
  Rules rules;
  Objective objective = Objective::latency;
  StepValue value;  // of the whole step, instead of the objective
  // Stacks that are given: nothing is searched but their tiles, and only the order must be possible.
  std::vector<std::vector<NodeId>> given;
  CandidateOptions candidates;
  CoverOptions cover;
  EvaluatorOptions evaluator;
  bool tiles = true;
  bool improve = true;
  std::size_t tile_budget = 100000;  // of improvement
  std::function<bool()> stop;
  std::function<void()> begun;  // the step was evaluated without stacks; may be empty
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
};

struct FusedStack {
  std::vector<NodeId> nodes;  // in the order of the graph; what is passed over and lies between comes along
  Tiles tiles;                // by node
};

struct Fused {
  std::vector<FusedStack> stacks;  // every operator once
  Cost cost;                       // of the whole step
  Cost unfused;                    // each operator a stack of its own, not cut
  std::size_t operators = 0, candidates = 0, classes = 0, priced = 0, evaluated = 0;
  bool complete = true;  // all sets that the rules allow were looked at
  Cover fewest;          // its bound: no choice has fewer sets
  double predicted = 0;  // of the cover that was chosen: sets, bytes, cycles, pJ, or their product
  double predicted_bound = 0;
  bool proven = false;    // no cover is better in what is predicted
  bool fallback = false;  // the step as it was is the answer: nothing was found that is better
  std::size_t parts = 0, parts_solved = 0, programs = 0, cuts = 0;
  bool stopped = false;  // by `stop`, before the end
};

// The step is `graph` on `hardware`, with what `base` says beside stacks.
// For latency, energy and edp the answer is never worse than the unfused step in the objective.
// Fails when the step cannot run at all, or given stacks cannot.
Expected<Fused> fuse(const Graph& graph, const Hardware& hardware, MappingCache& cache, const PlanRequest& base,
                     const FuseSettings& settings);

// As a plan: stacks of several operators by name, and tiles by operator.
void add_to(Plan& plan, const Graph& graph, const Fused& fused);

}  // namespace monet::fusion
