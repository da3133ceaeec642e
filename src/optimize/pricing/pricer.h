// Plans of one step on one machine, priced by evaluating them: what every search asks.
#pragma once

#include "evaluate/account/step.h"
#include "evaluate/evaluate.h"
#include "evaluate/plan/bind_tensors.h"
#include "training/recompute.h"

#include <monet/expected.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace monet {

struct Price {
  double cycles = 0;
  double energy_pj = 0;
  std::vector<std::int64_t> peak_bytes;  // live, by memory

  double edp() const { return cycles * energy_pj; }
};

enum class SearchObjective : std::uint8_t { latency, energy, edp };
std::string_view name_of(SearchObjective objective);
// The one of that name, for --objective.
Expected<SearchObjective> search_objective(const std::string& name);
double value_of(const Price& price, SearchObjective objective);

// The step with some saved tensors recomputed, ready for many plans.
struct RewrittenEvaluator {
  RewrittenEvaluator(const Graph& original, const Hardware& hardware, MappingCache& cache,
                     const EvaluatorOptions& options);
  RewrittenEvaluator(training::Recomputed rewritten, const Evaluator& like);

  training::Recomputed step;  // of the step as it is only `tensors` is filled
  const Graph* graph = nullptr;
  Evaluator evaluator;
};

struct Priced {
  Price price;
  RewrittenEvaluator* variant = nullptr;  // belongs to the pricer: until it prices the next plan
  Evaluated evaluated;

  ScheduledStep scheduled(const Hardware& hardware) const {
    return {*variant->graph, hardware, evaluated.assignment, evaluated.tiles, evaluated.schedule};
  }
};

// Not for several threads at once: each has one of its own, on the same cache. What is priced does not depend on what
// was priced before.
class Pricer {
 public:
  // All must outlive it.
  Pricer(const Graph& step, const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& options);
  ~Pricer();

  // `tensors`: what is decided about tensors; what `plan` says of them is not looked at. The plan is one of the
  // step as it is; with tensors recomputed it is mended: see plan_for().
  Expected<Priced> price(const Plan& plan, std::span<const BoundTensor> tensors);
  Expected<Priced> price(const Plan& plan);

  // The step with `tensors` decided: until it prices a plan with others. And where that step pages, by tensor of it.
  Expected<RewrittenEvaluator*> rewritten(std::span<const BoundTensor> tensors);
  static std::vector<MemoryId> paged(const RewrittenEvaluator& step, std::span<const BoundTensor> tensors);

  // Whether a priced plan keeps all rules, by the independent checker; and the bytes that a memory needs with
  // addresses.
  Status check(const Priced& priced) const;
  Expected<std::int64_t> packed_peak(const Priced& priced, MemoryId memory) const;

  // Of plans for data at home in storage, from now on: see PlanRequest.
  void set_part_share(double share) { part_share_ = share; }

  const Graph& graph() const { return step_; }
  const Hardware& hardware() const { return hardware_; }
  // The step as it is.
  RewrittenEvaluator& original();

 private:
  Expected<RewrittenEvaluator*> variant(std::vector<TensorId> recomputed);

  const Graph& step_;
  const Hardware& hardware_;
  MappingCache& cache_;
  EvaluatorOptions options_;
  std::optional<double> part_share_;
  training::Recomputation recomputation_;
  std::unique_ptr<RewrittenEvaluator> original_;
  std::vector<TensorId> recomputed_;  // of the variant
  std::unique_ptr<RewrittenEvaluator> variant_;
};

}  // namespace monet
