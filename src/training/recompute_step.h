// A training step with recomputations: the graph, and what else is known of it.
#pragma once

#include "training/step.h"

#include <span>

namespace monet::training {

struct RecomputedStep {
  TrainingStep step;
  std::vector<NodeId> copies;  // nodes of the backward part that repeat one of the forward part
};

// recompute() for a whole step. What is saved follows: what is recomputed no longer is, what its copies start from is.
// What PyTorch keeps for an operator though nothing reads it goes when the operator is repeated.
// Fails as recompute() does.
Expected<RecomputedStep> recompute(TrainingStep step, std::span<const TensorId> tensors);

}  // namespace monet::training
