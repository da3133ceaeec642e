// On a graphics processor: plans for an eager framework and for a fusing compiler together.
#pragma once

#include "optimize/joint/joint.h"

namespace monet {

// Both searches, each in a half of the time, and what is best of both: plans say which lowering they are for. `plan`
// states no stacks. Start and deadline are those of the eager step.
// Requires: the machine has a kernel core, and `how` is for an eager framework.
Expected<JointResult> optimize_lowerings(const Graph& step, const Hardware& hardware, MappingCache& cache,
                                         const EvaluatorOptions& how, const Plan& plan,
                                         const std::vector<BoundTensor>& decided, const JointOptions& options);

}  // namespace monet
