// A step as a plan's decisions about tensors make it.
#pragma once

#include "graph/graph.h"
#include "hardware/hardware.h"

#include <monet/expected.h>
#include <monet/plan.h>

#include <vector>

namespace monet {

struct RewrittenStep {
  Graph graph;                  // what is recomputed is
  bool recomputes = false;      // anything at all
  std::vector<MemoryId> paged;  // by tensor of `graph`: where it is meanwhile; empty: nothing is paged
  // Of `graph`: what the plan recomputes; where the forward part makes it no longer, the copy of it.
  std::vector<TensorId> recomputed;
  // By node of `graph`: the forward node there that it repeats; not valid: none. Empty: nothing is recomputed.
  std::vector<NodeId> repeats;
};

// Fails as bind_tensors() and training::recompute() do.
Expected<RewrittenStep> rewritten_step(const Plan& plan, const Graph& original, const Hardware& hardware);

}  // namespace monet
