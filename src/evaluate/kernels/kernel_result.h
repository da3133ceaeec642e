// From launches to the public result of an evaluation.
#pragma once

#include "evaluate/kernels/kernel_step.h"

#include <monet/evaluate.h>

namespace monet {

// Sets what follows from the launches: latency, energy, what explains them, MACs, counts, bounds, phases, operators (a
// row for each node that launches something, with the copies made for it), the core, the memory, the critical path.
void fill(Evaluation& evaluation, const KernelStep& step, const Hardware& hardware, const KernelLaws& laws);

}  // namespace monet
