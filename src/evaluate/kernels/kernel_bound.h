// What no kernel of a machine can go below: operations at the highest rate that is stated or was measured, and bytes at
// the highest bandwidth. Nothing of it is fitted.
#pragma once

#include "evaluate/cost/operator_bound.h"
#include "evaluate/kernels/kernel_step.h"

#include <vector>

namespace monet {

class KernelRoof {
 public:
  KernelRoof(const Hardware& hardware, const KernelLaws& laws);

  // Requires: sizes are derived.
  double operations_us(const Kernel& kernel) const;
  double bytes_us(double bytes) const { return bytes / bytes_per_us_; }
  // Of this one launch: its operations, or each byte of operands and results once.
  double least_us(const Kernel& kernel) const;

 private:
  std::array<double, kernel_precisions> flops_per_us_{};
  double bytes_per_us_ = 0;
};

// By node, for any lowering: operations alone, since what passes between operators may stay on chip. Energy: none is
// known, since no coefficient of it is stated or was measured by itself.
std::vector<OperatorBound> kernel_bounds(const Hardware& hardware, const KernelStep& step, const KernelLaws& laws);

// Of the whole step, in microseconds: what is there before it read once. Operations are the sum of kernel_bounds().
double compulsory_us(const Hardware& hardware, const KernelStep& step, const KernelLaws& laws);

}  // namespace monet
