// Checkpointing as a rewrite of a training step: saved tensors are not kept from the forward to the backward part, but
// computed again there from what is kept.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace monet::training {

// A tensor of the forward part that the backward part reads, itself or through views: what a plan decides about.
struct SavedCandidate {
  TensorId tensor;  // that is stored: no view
  std::int64_t bytes = 0;
  std::string reason;  // why it cannot be recomputed; empty: it can
};

// In the order of the graph. Weights, inputs, constants and what replaces them are there anyway and not among them.
std::vector<SavedCandidate> saved_candidates(const Graph& graph);

// The stored tensors behind a tensor: itself, or those that it is a view of.
std::vector<TensorId> stored_behind(const Graph& graph, TensorId tensor);

struct Recomputed {
  Graph graph;
  std::vector<TensorId> tensors;  // by tensor of the step before: its id now; not valid: no longer made
  std::vector<TensorId> copies;   // by tensor of the step before: its recomputed copy; not valid: it has none
  std::vector<NodeId> copy_of;    // by node: the node of the step before that it repeats; not valid: it is no copy
};

// The step with `tensors` (saved ones, or views of them) recomputed. All that leads to them from what is kept (inputs,
// weights, constants, other saved tensors, outputs of the step) is repeated once, for all readers in the backward part,
// just before the first of them. The k-th copy of a node or tensor X is called X~k. What the forward part made only for
// the backward part and nobody reads now is left out.
// A copy replaces nothing: the running statistics of a batch norm change once. A dropout is repeated with the mask that
// it kept, as the gradient does: times the mask, times 1 / (1 - ratio).
// Requires: verify(graph). Ensures: verify holds, and every value is the same (behind a dropout: but for rounding).
// Fails for a tensor that is not saved or cannot be recomputed, as saved_candidates() says.
// Cost: linear in the graph.
Expected<Recomputed> recompute(const Graph& graph, std::span<const TensorId> tensors);

struct RewriteBase;

// The same for many sets of tensors of one step, prepared once. Keeps a reference to the graph; safe to use from
// several threads.
class Recomputation {
 public:
  explicit Recomputation(const Graph& graph);
  ~Recomputation();
  Recomputation(Recomputation&&) noexcept;

  Expected<Recomputed> with(std::span<const TensorId> tensors) const;

 private:
  std::unique_ptr<const RewriteBase> base_;
};

}  // namespace monet::training
