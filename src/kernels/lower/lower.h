// Lowering: which launches an eager framework makes of a training step.
#pragma once

#include "kernels/lower/lowered_step.h"

namespace monet {

struct LoweringOptions {
  bool tf32_products = false;  // products and convolutions of fp32 numbers in tf32
  // As a compiler takes the step before it fuses: nothing is computed in place, norms and biases stand in the parts of
  // which they consist, gathers and paddings take one kernel.
  bool in_parts = false;
  bool channels_last = false;  // convolutions on channels-last tensors, whatever they are given
};

// Nodes run in the order of the graph, as autograd does: operators of the forward part, their gradients backwards, the
// optimizer over lists of tensors. Views are followed by strides: they launch nothing until an operator needs another
// layout, which costs a copy.
// Ensures: every node is in exactly one launch or silent.
// Cost: linear in the graph.
LoweredStep lower(const Graph& graph, const LoweringOptions& options);

}  // namespace monet
