// What can be decided about memory: for every saved tensor to keep it, compute it again or page it out, for weights and
// optimizer state whether to page them, and in which order to run.
#pragma once

#include "evaluate/machine/machine.h"
#include "evaluate/plan/bind_tensors.h"
#include "evaluate/tiles/stored_width.h"
#include "graph/graph.h"
#include "solvers/nsga2.h"

#include <monet/plan.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monet {

struct MemoryChoice {
  Retention retention = Retention::keep;
  MemoryId memory;  // paged: where to
};

struct MemoryCandidate {
  TensorId tensor;
  bool saved = true;  // else what outlives the step: weights, optimizer state
  std::int64_t bytes = 0;
  std::vector<MemoryChoice> choices;  // the first: keep
};

struct MemorySpaceOptions {
  bool recompute = true;
  bool page = true;
  bool page_static = true;           // also weights and optimizer state
  bool reorder = true;               // also the order that keeps little alive, beside the plan's
  std::vector<std::string> tensors;  // patterns of names; empty: all
};

// A genome has a gene for each candidate, the number of its choice, and one for the order.
class MemorySpace {
 public:
  // What `plan` says of tensors is decided: no candidates. Where `plan` states an order that is not the default, that
  // is decided too. `element_bits`: of an element as the machine stores it, by tensor.
  MemorySpace(const Graph& step, const Hardware& hardware, const RoutedMachine& machine, const Plan& plan,
              std::vector<BoundTensor> decided, std::span<const StoredWidth> element_bits,
              const MemorySpaceOptions& options);

  const std::vector<MemoryCandidate>& candidates() const { return candidates_; }
  const std::vector<PlanOrder>& orders() const { return orders_; }
  std::vector<std::uint16_t> choices() const;

  // All kept, in the plan's order.
  Genome all_kept() const { return Genome(candidates_.size() + 1, 0); }
  std::vector<BoundTensor> tensors(const Genome& genome) const;
  PlanOrder order(const Genome& genome) const { return orders_[genome.back()]; }
  std::int64_t kept_bytes(const Genome& genome) const;
  std::int64_t dropped_bytes(const Genome& genome) const;

  // Names of tensors that a genome recomputes, or pages.
  std::vector<std::string> names(const Genome& genome, Retention retention) const;
  // The whole plan.
  Plan plan(const Genome& genome) const;

 private:
  const Graph& step_;
  const Hardware& hardware_;
  const Plan& plan_;
  std::vector<BoundTensor> decided_;
  std::vector<MemoryCandidate> candidates_;
  std::vector<PlanOrder> orders_;
};

}  // namespace monet
