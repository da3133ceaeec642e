// Plans that are nearly right: changes of one to another, with names that the graph and the machine have.
#pragma once

#include "base/random.h"
#include "graph/graph.h"
#include "hardware/hardware.h"

#include <monet/plan.h>

namespace monet::fuzz {

// One change: something is added, removed, doubled, moved, or gets another name or number.
void change(Plan& plan, const Graph& graph, const Hardware& hardware, SeededRandom& random);

}  // namespace monet::fuzz
