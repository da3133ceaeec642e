// Reverse-mode differentiation: writes the backward part of a graph.
#pragma once

#include "graph/builder.h"
#include "training/gradient_builder.h"

#include <span>

namespace monet::training {

// Where a gradient enters: d(result)/d(tensor). Not valid: 1 for every element.
struct Seed {
  TensorId tensor;
  TensorId gradient;
};

struct Derivatives {
  std::vector<TensorId> gradients;  // one for each of `wanted`; not valid where none arrives
  std::vector<SavedBy> saves;       // what the rules saved
};

// Appends to the builder, in phase backward, the gradients of the seeds with respect to `wanted`, and nothing that they
// do not need. Forward nodes may get further outputs that the backward part reads.
// Fails when an operator between a seed and a wanted tensor cannot be differentiated, naming it and what lies behind.
// Cost: linear in the nodes.
Expected<Derivatives> differentiate(GraphBuilder& builder, std::span<const Seed> seeds,
                                    std::span<const TensorId> wanted, ConvGradient conv_gradient);

}  // namespace monet::training
