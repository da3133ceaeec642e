// The one pure function: a graph on a machine by a plan.
#pragma once

#include "evaluate/classes/operator_classes.h"
#include "evaluate/cost/tile_costs.h"
#include "evaluate/kernels/kernel_step.h"
#include "evaluate/machine/machine.h"
#include "evaluate/plan/bind.h"
#include "evaluate/policy/policy.h"
#include "evaluate/policy/streaming.h"
#include "evaluate/schedule/schedule.h"
#include "evaluate/tiles/build.h"
#include "evaluate/tiles/tile_graph.h"

#include <monet/expected.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monet {

// What is known of operators by their content, whatever the machine. Evaluators of many machines that share one work
// it out once. One thread at a time.
struct OperatorClassCache;
std::shared_ptr<OperatorClassCache> new_operator_class_cache();

struct EvaluatorOptions {
  CostOptions cost;
  std::shared_ptr<const ChipNetwork> network;  // of one chip's part of a step of many; null: there is one chip
  std::string lowering;   // "nests": also where there is a kernel core; see evaluate/kernels/lowering_choice.h
  bool off_chip = false;  // every operator reads from and writes to home memory
  std::size_t jobs = 0;
  std::function<void(std::size_t done, std::size_t all)> progress;  // of the mappings
  std::function<bool()> stop;                                       // asked now and then; true: ends with an error
  std::shared_ptr<OperatorClassCache> known;                        // empty: its own
};

struct Evaluated {
  Assignment assignment;
  TileGraph tiles;
  Schedule schedule;
  std::shared_ptr<const KernelStep> kernels;  // of which it is the schedule, on a kernel core; null: it is none of them
  double map_s = 0, schedule_s = 0;
};

// One graph on one machine, for many plans: what no plan changes is kept. Deterministic, for any number of threads.
// One thread at a time uses it and those that share with it; threads with evaluators of their own may share the cache.
class Evaluator {
 public:
  // Both must outlive it, and the cache too.
  Evaluator(const Graph& graph, const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& options);
  // Another graph on the same machine with the same cache and options. What is known of operators, by their content, is
  // shared: fast where the graphs have most of them in common, as steps that recompute different tensors do. The result
  // is the same as without. `like` need not outlive it.
  Evaluator(const Graph& graph, const Evaluator& like);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Where the plan asks for little memory, the order of the graph is tried too: what needs less is the answer. Where it
  // leaves cores to the policy, plans for fewer of them are tried too: the fastest is the answer.
  Expected<Evaluated> evaluate(const PlanRequest& request);

  // What a plan says, by ids; the tensors that it pages are left to the caller.
  Expected<PlanRequest> bind(const Plan& plan) const;

  const Graph& graph() const { return graph_; }
  const Dependencies& dependencies() const { return binder_.dependencies(); }
  // Equal operators have one number.
  const OperatorClasses& classes() const { return classes_; }
  RoutedMachine& machine() { return machine_; }
  TileCosts& costs() { return costs_; }
  const TilingGraph& tiling() const { return tiling_; }
  // By node: what no way of running it can go below.
  std::vector<OperatorBound> operator_bounds();
  const std::vector<StoredWidth>& element_bits() const { return tile_options_.element_bits; }
  // Whether the step runs kernel by kernel.
  bool runs_kernels() const;
  // Not by ZigZag's rules, which leave some of what streams out.
  bool counts_streams() const;
  // What the user should know: precisions that the machine does not have.
  std::vector<std::string> notes() const;

 private:
  struct Shared;
  Evaluator(const Graph& graph, std::shared_ptr<Shared> shared);
  // Nothing: with that share of the cores the step is sure to take more than `most_cycles`.
  Expected<std::optional<Evaluated>> evaluate_on(const PlanRequest& request, CoreShare share, double most_cycles);
  // `share`: of the cores that it used.
  Expected<Evaluated> evaluate_as_asked(const PlanRequest& request, CoreShare& share);
  // The most cores of a kind among which the policy may choose for an operator.
  std::size_t cores_left_open(const PlanRequest& request) const;
  // Of the cycles of all tiles of the core that has most.
  double busiest(const TileGraph& tiles, const Assignment& assignment, std::span<const std::uint32_t> cost_of) const;
  Expected<Evaluated> evaluate_kernels(const PlanRequest& request);
  // Sets kernels_.
  Status find_kernels(const PlanRequest& request);
  std::shared_ptr<const KernelStep> eager_kernels() const;
  // Bytes of memories at most at one moment: of home first, of those of cores where that is equal.
  struct Need {
    std::int64_t home = 0, cores = 0;
    auto operator<=>(const Need&) const = default;
  };
  Need need_of(const Schedule& schedule) const;
  std::vector<std::uint32_t> request_costs(const TileGraph& tiles, const Assignment& assignment,
                                           const Streaming& streaming);

  const Graph& graph_;
  std::shared_ptr<Shared> shared_;
  OperatorClasses classes_;
  Binder binder_;
  RoutedMachine machine_;
  TilingGraph tiling_;
  TileCosts costs_;
  Policy policy_;
  TileOptions tile_options_;
  std::shared_ptr<const KernelStep> kernels_;  // of the last plan: none changes those of an eager framework
};

}  // namespace monet
