// The step as a graph to look at.
#pragma once

#include "evaluate/account/step.h"

#include <monet/evaluate.h>

#include <span>

namespace monet {

// All nodes, and the tensors that some node makes or reads. `recomputed`: tensors of the graph about which the plan has
// decided that (RewrittenStep::recomputed). O((n + e) log n).
StepGraph step_graph(const ScheduledStep& step, std::span<const TensorId> recomputed);

}  // namespace monet
