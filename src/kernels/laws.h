// How long a kernel takes, what energy and how much workspace: laws whose coefficients stand in a machine's file.
#pragma once

#include "kernels/kernel.h"

namespace monet {

struct KernelLaws;  // values: kernels/law_values.h

double microseconds(const KernelLaws& laws, const Kernel& kernel);
// Of a kernel that takes `us` at this share of the full clock.
double millijoules(const KernelLaws& laws, const Kernel& kernel, double us, double clock = 1);

// The same in parts, by what becomes of them when the clock falls.
struct KernelEnergy {
  double base_w = 0;      // stays
  double busy_w = 0;      // of cores at work: falls with clock and voltage
  double operations = 0;  // pJ: falls with the voltage
  double bytes = 0;       // pJ: stays
  // Of `us`, what takes longer in proportion: all but the time that memory takes for what comes from it.
  double clocked_us = 0;
};
// Requires that sizes are derived.
KernelEnergy energy_parts(const KernelLaws& laws, const Kernel& kernel, double us);
// That the library holds beside operands and results while the kernel runs.
std::int64_t workspace_bytes(const KernelLaws& laws, const Kernel& kernel);

}  // namespace monet
