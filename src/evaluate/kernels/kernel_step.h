// A training step on a graphics processor: its launches, and what they cost by the laws of its kernels.
#pragma once

#include "evaluate/kernels/kernel_network.h"
#include "graph/graph.h"
#include "hardware/hardware.h"
#include "kernels/compile/compile.h"
#include "kernels/lower/memory.h"
#include "kernels/lower/walk.h"

#include <monet/expected.h>

#include <memory>

namespace monet {

struct KernelStep {
  Graph graph;
  LoweredStep lowered;
  StepCosts costs;
  AllocatorPeak memory;
  std::vector<OperatorStack> stacks = {};  // compiled: operators that are one kernel
  LaunchTimes times = {};
};

// Of the kernel core. Fails where there is none.
Expected<std::shared_ptr<const KernelLaws>> laws_of(const Hardware& hardware);

// `tf32`: products of fp32 numbers are rounded to tf32.
// `network`: of a step with collectives; else null.
KernelStep kernel_step(Graph graph, const KernelLaws& laws, bool tf32, const ChipNetwork* network = nullptr);
// As a fusing compiler runs it. Fails for collectives, and for stacks that cannot be one kernel.
Expected<KernelStep> compiled_kernel_step(Graph graph, const KernelLaws& laws, const CompileOptions& options);

}  // namespace monet
