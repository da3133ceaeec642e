// Checks a step that runs kernel by kernel, from its graph and its launches alone: shares data types with what made it,
// no code. Linear in launches and what they touch.
//
// What holds when it finds nothing:
// - nodes: each is carried out by one launch, or is silent
// - order: the producers of what a node reads, views looked through, are carried out by the same launch or one before,
//   or that launch repeats them, or they are read by a launch after them that does a part of the node
// - buffers: what a launch reads was written by one before it, or was there before the step; no touch is larger than
//   its buffer
// - memory: the most that an allocator holds, phase by phase, with workspaces, is what the step says
// - sums: times are finite and above 0 and add up to those of the phases and the step, energies to its
#pragma once

#include "evaluate/check/check.h"
#include "evaluate/kernels/kernel_step.h"

namespace monet {

CheckReport check_kernels(const Graph& graph, const Hardware& hardware, const KernelStep& step);

// The first violation as a defect.
Status verify_kernels(const Graph& graph, const Hardware& hardware, const KernelStep& step);

}  // namespace monet
