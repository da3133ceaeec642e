// A plan of a whole step for a part of it.
#pragma once

#include "graph/graph.h"

#include <monet/plan.h>

namespace monet {

// Leaves out what the plan says of operators that the whole has and the part has not.
Plan plan_for_part(Plan plan, const Graph& whole, const Graph& part);

}  // namespace monet
