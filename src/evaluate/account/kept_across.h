// What every schedule has to keep across one moment of the step: made or read before it, and read after it again.
#pragma once

#include "evaluate/account/dependence.h"
#include "graph/graph.h"

#include <span>

namespace monet {

// The moment: when one element of the first output of `node` is made. Whatever the plan, by then all that the element
// depends on has been made, and nothing that depends on it has begun.
struct KeptAcross {
  double made_bits = 0;   // of tensors that the step makes
  double given_bits = 0;  // of tensors that it begins with
  NodeId node;            // not valid: no moment was found
};

KeptAcross kept_at(const Graph& graph, const Dependence& dependence, std::span<const double> bits, NodeId node);

// The moment across which most has to come back where `room_bits` may stay with the cores; of the last operators of the
// forward part that gather many elements. `bits` as stored, by tensor. Cost: linear in nodes.
KeptAcross kept_across(const Graph& graph, std::span<const double> bits, double room_bits);

}  // namespace monet
