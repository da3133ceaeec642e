// Stacks on a graphics processor: operators that a compiler makes one kernel of.
#pragma once

#include "evaluate/kernels/kernel_step.h"

#include <monet/plan.h>

#include <functional>
#include <vector>

namespace monet::fusion {

struct KernelStackOptions {
  bool tf32 = false;
  std::size_t tries = 100;                         // steps that are compiled, at most
  std::function<double(const KernelStep&)> value;  // made small; infinite: the step must not be taken
  std::function<bool()> stop;
};

struct KernelStacks {
  KernelStep step;
  double value = 0;
  std::size_t tried = 0;
  bool stopped = false;
};

// From the stacks of `first` on, as long as it saves: a stack taken apart, or its first or last operator left out. Each
// try is priced by the laws, of the whole step: the answer is never worse than `first`.
// Requires: `first` was made by compiled_kernel_step().
KernelStacks improved_stacks(KernelStep first, const KernelLaws& laws, const KernelStackOptions& options);

// As a plan states them, which gives the same step again: where there is none, an operator by itself, since of a plan
// that states nothing a compiler makes its own.
std::vector<PlannedStack> stated_stacks(const KernelStep& step);

}  // namespace monet::fusion
