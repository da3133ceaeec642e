// What a result says of launches beyond what it says of any schedule.
#pragma once

#include "evaluate/kernels/kernel_step.h"

#include <monet/evaluate.h>

namespace monet {

// Latency and energy by kind of kernel, what is read at least before anything else can be, and what the laws rest on.
// Requires: the schedule of the step (kernel_schedule.h) was filled in.
void fill_kernels(Evaluation& evaluation, const KernelStep& step, const Hardware& hardware);

}  // namespace monet
