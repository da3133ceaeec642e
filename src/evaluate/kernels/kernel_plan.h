// What a plan can say of a step that runs kernel by kernel.
#pragma once

#include "evaluate/policy/policy.h"

#include <monet/expected.h>

namespace monet {

// An eager framework has its own order, a kernel for each operator and no memory to page to: of a plan there is what is
// recomputed, which the graph has, and the kernel core for operators. Fails for anything else, and says what.
Status check_kernel_plan(const PlanRequest& request, const Graph& graph, const Hardware& hardware);

}  // namespace monet
