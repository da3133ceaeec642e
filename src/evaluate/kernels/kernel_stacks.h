// Stacks of a plan on a graphics processor: operators that become one kernel.
#pragma once

#include "graph/graph.h"
#include "kernels/compile/compile.h"

#include <monet/plan.h>

#include <optional>
#include <vector>

namespace monet {

// Nothing: the plan has none, so that the compiler's policy makes them. Views are passed over. Fails for an operator
// that the step does not have, or that is in two stacks.
Expected<std::optional<std::vector<OperatorStack>>> operator_stacks_of(const Plan& plan, const Graph& graph);

// The same by names.
std::vector<PlannedStack> planned_stacks_of(const std::vector<OperatorStack>& stacks, const Graph& graph);

}  // namespace monet
