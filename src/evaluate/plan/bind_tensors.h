// What a plan says about saved tensors, by id.
#pragma once

#include "evaluate/plan/plan.h"
#include "graph/graph.h"
#include "hardware/hardware.h"

#include <monet/expected.h>

#include <vector>

namespace monet {

struct BoundTensor {
  TensorId tensor;  // that is stored: no view
  Retention retention = Retention::keep;
  MemoryId memory;  // paged: where to; kept: where, if the plan says so
  bool operator==(const BoundTensor&) const = default;
};

// The saved tensors of which the plan speaks, in the order of the graph. A view stands for what it is a view of. A
// pattern passes over what cannot be recomputed, as long as one of the tensors that match can.
// `graph` is the step before anything is recomputed.
// Fails for a tensor that does not exist, is not saved, or cannot be recomputed; a memory that does not exist, that the
// cores cannot reach, or that is too small for the tensor.
Expected<std::vector<BoundTensor>> bind_tensors(const Plan& plan, const Graph& graph, const Hardware& hardware);

// Those to be recomputed: what training::recompute() wants.
std::vector<TensorId> recomputed(const std::vector<BoundTensor>& tensors);

}  // namespace monet
