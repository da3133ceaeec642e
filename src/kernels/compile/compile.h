// A training step as a fusing compiler runs it.
#pragma once

#include "kernels/law_values.h"
#include "kernels/lower/lowered_step.h"

#include <monet/expected.h>

#include <optional>
#include <vector>

namespace monet {

using OperatorStack = std::vector<NodeId>;  // operators that become one kernel, in the order of the graph

struct CompileOptions {
  bool tf32_products = false;
  std::optional<std::vector<OperatorStack>> stacks = {};  // that a plan states; else those of the policy
};

struct CompiledStep {
  LoweredStep lowered;
  std::vector<OperatorStack> stacks;  // of two operators and more, libraries left out
  bool channels_last = false;
};

// Lowers the step in parts (kernels/lower), pads products, computes cheap operands again in the backward part, fuses.
// The compiler takes the network; loss and optimizer run as an eager framework runs them.
// Fails where a stated stack cannot be one kernel, naming the operators and why.
// Ensures: every node is in exactly one launch or silent; the stacks of the result give the same result again.
Expected<CompiledStep> compile(const Graph& graph, const KernelLaws& laws, const CompileOptions& options);

}  // namespace monet
