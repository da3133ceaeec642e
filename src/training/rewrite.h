// The rewrite behind recompute(): which nodes are repeated where, and the new step.
#pragma once

#include "training/recompute.h"
#include "training/repeatable.h"

#include <string>
#include <vector>

namespace monet::training {

// What of a step no set of tensors changes.
struct RewriteBase {
  // Keeps a reference to the graph.
  explicit RewriteBase(const Graph& step);

  const Graph& graph;
  Repeatable can;
  std::vector<std::string> tensor_copies, node_copies;  // names of copies, by tensor and by node
  std::vector<bool> stays;                              // by tensor: also if nobody reads it
};

// `recomputed`: by tensor; saved ones that can be.
Recomputed rewrite(const RewriteBase& base, const std::vector<bool>& recomputed);

}  // namespace monet::training
