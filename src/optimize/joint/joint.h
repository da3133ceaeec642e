// Fusion, tiles, memory decisions, order and placement together: each search in turn on what the others found, all that
// was priced kept, and the best of it given back.
#pragma once

#include "optimize/fusion/rules.h"
#include "optimize/memory/space.h"
#include "optimize/pricing/plan_value.h"
#include "optimize/pricing/pricer.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace monet {

struct JointOptions {
  PlanValue objective;
  MemoryId memory;  // whose peak counts
  std::int64_t budget_bytes = std::numeric_limits<std::int64_t>::max();
  double deadline_cycles = std::numeric_limits<double>::infinity();
  // What may be changed.
  bool fuse = true, decide = true, place = true;
  fusion::Rules rules;
  MemorySpaceOptions space;

  std::size_t rounds = 2;        // of memory decisions, with placement between them
  std::size_t evaluations = 60;  // plans that are priced for one budget
  std::size_t tiles = 100000;    // that are priced for one budget: plans of many tiles are fewer
  std::size_t budgets = 3;       // between what all kept needs and the least
  std::size_t population = 24, generations = 10;
  std::size_t plans = 20;  // that are given back, at most
  std::uint64_t seed = 1;
  std::size_t jobs = 0;
  // From now on, for all of it: what the plans that are given back take at the end is kept free.
  double time_limit_s = std::numeric_limits<double>::infinity();
  std::function<bool()> stop;
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
  std::function<void(double cycles, double energy_pj, std::int64_t peak_bytes)> found;  // taken to the front so far
};

struct JointPlan {
  Plan plan;  // of the step as it is, with what it says of tensors
  Price price;
  std::int64_t peak_bytes = 0;  // in the memory, with addresses
  bool fused = false, placed = false;
  Plan complete;           // as it was carried out
  std::size_t stacks = 0;  // of several operators
};

struct JointResult {
  JointPlan start;  // the plan given, without any of it
  // None is better than another in latency, energy, peak and an objective of the user's own; the fastest first.
  std::vector<JointPlan> front;
  std::int64_t least_bytes = 0;  // the smallest peak that was found
  std::size_t evaluated = 0;
  bool complete = true;
};

// Every plan of the front is within budget and deadline, has addresses and passes the independent checker; empty: none
// was found. `plan` and `decided` are kept to.
Expected<JointResult> optimize_jointly(const Graph& step, const Hardware& hardware, MappingCache& cache,
                                       const EvaluatorOptions& how, const Plan& plan,
                                       const std::vector<BoundTensor>& decided, const JointOptions& options);

}  // namespace monet
