// Which cores run what: a genetic search that begins with what the default policy does.
#pragma once

#include "optimize/pricing/plan_value.h"
#include "optimize/pricing/pricer.h"
#include "solvers/nsga2.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace monet {

// How the operators of a class are placed.
struct PlacementChoice {
  std::vector<CoreId> cores;  // empty: by the default policy
  bool one_each = false;      // whole operators, in turn on the cores; else each is split over all of them
  Dim loop = Dim::K;          // along which
  std::int64_t extent = 1;    // of that loop
};

// A gene for each class of equal operators. The first choice of each is the policy's.
class PlacementSpace {
 public:
  // What `plan` says of cores and splits is decided.
  PlacementSpace(RewrittenEvaluator& step, const Hardware& hardware, const Plan& plan);

  std::size_t classes() const { return choices_.size(); }
  std::vector<std::uint16_t> choices() const;
  // `plan` with the cores and splits of a genome.
  Plan apply(const Plan& plan, const Genome& genome) const;

 private:
  const Graph& graph_;
  const Hardware& hardware_;
  std::vector<std::vector<NodeId>> members_;  // by class
  std::vector<std::vector<PlacementChoice>> choices_;
};

struct PlacementOptions {
  PlanValue objective;
  MemoryId memory;                                                       // of the budget
  std::int64_t budget_bytes = std::numeric_limits<std::int64_t>::max();  // live
  std::size_t population = 24, generations = 12;
  std::uint64_t seed = 1;
  std::size_t jobs = 0;
  std::function<bool()> stop;
  std::function<void(std::size_t done, std::size_t all)> progress;
};

struct PlacedPlan {
  Plan plan;
  Price price;
};

struct Placement {
  std::vector<PlacedPlan> front;  // of latency, energy and an objective of the user's own, within the budget
  std::size_t evaluated = 0;
  std::size_t classes = 0;
};

// `plan` with `tensors` decided, the cores of its operators searched. The policy's placement is among what is compared.
// Deterministic for any number of threads.
Expected<Placement> place(const Graph& step, const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& how,
                          const Plan& plan, std::span<const BoundTensor> tensors, const PlacementOptions& options);

}  // namespace monet
