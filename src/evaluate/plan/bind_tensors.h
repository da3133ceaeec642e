// What a plan says about tensors, by id.
#pragma once

#include "graph/graph.h"
#include "hardware/hardware.h"

#include <monet/expected.h>
#include <monet/plan.h>

#include <vector>

namespace monet {

struct BoundTensor {
  TensorId tensor;  // that is stored: no view
  Retention retention = Retention::keep;
  MemoryId memory;  // paged: where to; kept: where, if the plan says so
  bool operator==(const BoundTensor&) const = default;
};

// The tensors of which the plan speaks, saved ones in the order of the graph, then weights and optimizer state. A view
// stands for what it is a view of; `blocks` for what residual blocks and transformer layers save inside
// (training/blocks.h), `weights` and `optimizer-state` for all of these, where no tensor has that name. A pattern is
// looked for among saved tensors, and where none matches among weights and optimizer state; it passes over what cannot
// be recomputed, as long as one of the tensors that match can.
// `graph` is the step before anything is recomputed.
// Fails for a tensor that does not exist, about which there is nothing to decide, or that cannot be recomputed; a
// memory that does not exist, that the cores cannot reach, or that is too small for the tensor.
Expected<std::vector<BoundTensor>> bind_tensors(const Plan& plan, const Graph& graph, const Hardware& hardware);

// The same for any machine: memories are not looked at, and those of the result are not valid.
Expected<std::vector<BoundTensor>> bind_tensors(const Plan& plan, const Graph& graph);

// Those to be recomputed: what training::recompute() wants.
std::vector<TensorId> recomputed(const std::vector<BoundTensor>& tensors);

}  // namespace monet
