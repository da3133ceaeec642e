// A plan that states everything, improved step by step on the evaluation of the whole step: over how many cores and
// along which loops operators are split, how they are cut in time, which run together, and in which order.
#pragma once

#include "optimize/assignment/moves.h"
#include "optimize/pricing/plan_value.h"
#include "optimize/pricing/pricer.h"

#include <monet/plan.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace monet::assigning {

struct SearchOptions {
  PlanValue objective;
  MemoryId memory;                                                       // of the budget
  std::int64_t budget_bytes = std::numeric_limits<std::int64_t>::max();  // live
  double deadline_cycles = std::numeric_limits<double>::infinity();
  MoveOptions moves;
  std::size_t evaluations = 400;
  std::size_t jobs = 0;
  std::function<bool()> stop;
  std::function<void(std::size_t evaluated, double best)> progress;
};

struct FoundPlan {
  Plan plan;  // complete
  Price price;
};

struct Found {
  FoundPlan best;
  std::vector<FoundPlan> others;  // that are better than `best` and each other in latency, energy or the peak
  std::size_t evaluated = 0;
  bool complete = true;  // no single move makes it better
};

// Starts with the best of `starts`, each with the tensors that it states, which are bound on `step`; what moves of
// them is the same step, so all must recompute and page the same. Never worse than the best start in the objective
// within the budget. The same answer for any number of threads, unless `stop` ends it.
// Fails when none of the starts can be carried out.
Expected<Found> search(const Graph& step, const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& how,
                       std::span<const Plan> starts, std::span<const BoundTensor> tensors,
                       const SearchOptions& options);

}  // namespace monet::assigning
