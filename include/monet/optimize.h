// Fusion, memory and placement of a training step together: a set of plans, each the best in its way.
#pragma once

#include <monet/evaluate.h>
#include <monet/expected.h>
#include <monet/objective.h>
#include <monet/reach.h>
#include <monet/text.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct OptimizeOptions {
  StepRequest evaluate;               // network, machine, and a plan that is kept to
  std::string objective = "latency";  // energy, edp
  PlanObjective function;             // one of the user's own instead; whole plans are compared by it
  std::vector<std::string> budgets;   // as CheckpointOptions
  std::string deadline;
  bool fuse = true, decide = true, place = true;  // what is searched
  bool recompute = true, page = true, page_static = true, reorder = true;
  std::int64_t limit = 6;  // operators of a stack
  std::size_t rounds = 2, evaluations = 60, population = 24, generations = 10;
  std::size_t plans = 20;  // that are given back, at most
  std::uint64_t seed = 1;
  double time_limit_s = std::numeric_limits<double>::infinity();

  std::function<bool()> stop;
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
  // A plan that no other one so far beats, as it is found; before it is checked and packed.
  std::function<void(double latency_cycles, double energy_pj, std::int64_t peak_bytes)> found;
};

struct OptimizedPlan {
  double latency_cycles = 0, latency_s = 0, energy_pj = 0;
  std::int64_t peak_bytes = 0;
  double value = 0;  // of OptimizeOptions::function
  std::int64_t saved_bytes_dropped = 0;
  std::int64_t stacks = 0;  // of several operators
  std::string lowering;     // how operators run: "nests", "eager", "compiled" (docs/evaluate.md)
  std::string order;
  bool placed = false;  // cores by search, not by the policy
  std::vector<std::string> recomputed, paged;
  std::string why;        // what it is better in than the one before, and what for
  std::string plan_file;  // where it was written; empty: nowhere
  std::string plan_yaml;
};

struct Optimization {
  std::string model, hardware, memory;
  std::string recipe, recipe_from;  // of the number formats, as in Evaluation
  Reach reach;
  std::string objective;  // "own": a function of the user's
  double clock_hz = 0;
  std::int64_t budget_bytes = 0;
  double deadline_cycles = 0;  // 0: none
  bool feasible = true;
  std::int64_t least_bytes = 0;
  OptimizedPlan start;  // the default policy, or the plan given
  std::vector<OptimizedPlan> plans;
  std::size_t recommended = 0;  // one of the plans
  std::string recommended_why;  // empty: there are none
  double bound_cycles = 0, bound_pj = 0;
  std::size_t evaluated = 0;
  bool complete = true;
  std::vector<std::string> warnings, notes;
  double wall_s = 0;
};

Expected<Optimization> optimize_network(const Network& network, const OptimizeOptions& given);

Error does_not_fit(const Optimization& result);

std::string to_json(const Optimization& result);
Text to_text(const Optimization& result);
std::string to_csv(const Optimization& result);  // a line for each plan

}  // namespace monet
