// What a plan can say of a step that runs kernel by kernel.
#pragma once

#include "evaluate/policy/policy.h"

#include <monet/expected.h>

namespace monet {

// A framework has its own order and no memory to page to: of a plan there is what is recomputed, which the graph has,
// the kernel core for operators, and where a compiler fuses (`compiled`) the stacks. Fails for anything else, and says
// what.
Status check_kernel_plan(const PlanRequest& request, const Graph& graph, const Hardware& hardware, bool compiled);

}  // namespace monet
