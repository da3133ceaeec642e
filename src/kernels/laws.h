// How long a kernel takes, what energy and how much workspace: laws whose coefficients stand in a machine's file.
#pragma once

#include "kernels/kernel.h"

namespace monet {

struct KernelLaws;  // values: kernels/law_values.h

double microseconds(const KernelLaws& laws, const Kernel& kernel);
// Of a kernel that takes `us`.
double millijoules(const KernelLaws& laws, const Kernel& kernel, double us);
// That the library holds beside operands and results while the kernel runs.
std::int64_t workspace_bytes(const KernelLaws& laws, const Kernel& kernel);

}  // namespace monet
