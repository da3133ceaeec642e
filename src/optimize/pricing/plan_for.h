// A plan carried over to a step in which something is recomputed.
#pragma once

#include "evaluate/plan/dependencies.h"
#include "training/recompute.h"

#include <monet/plan.h>

namespace monet {

// `plan` of the step `before`, mended for the step `after`: what it says of operators that are gone is left out, what
// it says of an operator by name holds for its copies too, but for those that it names themselves, and the copies of
// operators of one stack form a stack with the same tiles. Stacks that would then wait for each other are taken apart;
// those of one operator without tiles are left out; neither holds for the kernels of a compiler. Where the plan lists
// stacks in the order in which they run and that is none any more, they get another.
Plan plan_for(const Plan& plan, const Graph& before, const training::Recomputed& after,
              const Dependencies& dependencies);

// `plan` without what it says by name of operators that `step` does not have: copies, where it was made for a step in
// which something is recomputed.
Plan without_copies(Plan plan, const Graph& step);

}  // namespace monet
