// A network as the launches of its step.
#pragma once

#include "evaluate/kernels/kernel_step.h"

#include <monet/evaluate.h>

namespace monet {

// A network as a step, with what the options recompute, in their numbers, by the lowering that they name: compiled,
// with the stacks of their plan, or else eager.
Expected<KernelStep> kernel_step(const Network& network, const StepRequest& options, const Hardware& hardware,
                                 const KernelLaws& laws);

}  // namespace monet
