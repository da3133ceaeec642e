// The step as a graph to look at.
#pragma once

#include "evaluate/account/step.h"
#include "evaluate/plan/rewritten.h"

#include <monet/evaluate.h>

namespace monet {

// All nodes, and the tensors that some node makes or reads. `rewritten`: how the plan made
// the step's graph. O((n + e) log n).
StepGraph step_graph(const ScheduledStep& step, const RewrittenStep& rewritten);

}  // namespace monet
