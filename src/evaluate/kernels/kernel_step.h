// A training step on a graphics processor: its launches, and what they cost by the laws of its kernels.
#pragma once

#include "graph/graph.h"
#include "hardware/hardware.h"
#include "kernels/compile/compile.h"
#include "kernels/lower/memory.h"
#include "kernels/lower/walk.h"

#include <monet/evaluate.h>

#include <memory>

namespace monet {

struct KernelStep {
  Graph graph;
  LoweredStep lowered;
  StepCosts costs;
  AllocatorPeak memory;
  std::vector<OperatorStack> stacks = {};  // compiled: operators that are one kernel
  std::string graph_hash = {};             // of the step before anything is recomputed
  std::vector<std::string> warnings = {};  // of a plan that was made for something else
};

// Of the core that has them; where none has, those that follow from the data sheet of the first core. Fails where that
// says too little.
Expected<std::shared_ptr<const KernelLaws>> laws_of(const Hardware& hardware);

// `tf32`: products of fp32 numbers are rounded to tf32.
KernelStep kernel_step(Graph graph, const KernelLaws& laws, bool tf32);
// As a fusing compiler runs it. Fails for stacks that cannot be one kernel.
Expected<KernelStep> compiled_kernel_step(Graph graph, const KernelLaws& laws, const CompileOptions& options);

// A network as a step, with what the options recompute, in their numbers, by the lowering that they name: eager, or
// compiled with the stacks of their plan. None named: eager.
Expected<KernelStep> kernel_step(const Network& network, const StepRequest& options, const Hardware& hardware,
                                 const KernelLaws& laws);

}  // namespace monet
