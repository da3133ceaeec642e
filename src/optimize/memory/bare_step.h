// A training step as a bare rematerialization problem, for rules that know nothing of cores, links and tiles.
#pragma once

#include "optimize/memory/prices.h"
#include "remat/problem.h"
#include "remat/sequence.h"

#include <limits>
#include <vector>

namespace monet {

constexpr remat::NodeIndex no_bare_node = std::numeric_limits<remat::NodeIndex>::max();

struct BareStep {
  remat::Problem problem;
  std::vector<NodeId> nodes;                   // by node of the problem: the operator
  std::vector<remat::NodeIndex> of_candidate;  // by candidate: the node that makes it; no_bare_node: it begins the step
};

// One node for each operator, with the bytes of what it makes and the time that its tiles keep a core busy, shared
// among its cores. What begins the step is always there. Only what makes candidates, and what leads to them, may run
// again. The channel is that of the first storage.
BareStep bare_step(const Priced& as_it_is, const Hardware& hardware, const MemorySpace& space, MemoryId memory);

// What a sequence of runs means for the candidates: made again, or brought back.
Genome decisions_of(const BareStep& bare, const MemorySpace& space, const remat::Sequence& sequence);

}  // namespace monet
