// A schedule's plan, complete.
#pragma once

#include "evaluate/account/step.h"

#include <monet/plan.h>

namespace monet {

// A plan that leaves nothing open and gives the same result. `original`: the graph before anything was recomputed.
Plan complete_plan_of(const ScheduledStep& step, const Plan& plan, const Graph& original);

}  // namespace monet
