// The number formats of a training step.
#pragma once

#include "graph/graph.h"

namespace monet::training {

struct Precision {
  ElementType compute = ElementType::float32;
  // Weights, their gradients and the optimizer stay in float32 (they are the master weights); products and convolutions
  // run in `compute` on casts of them, and what needs range (softmax, norms, losses, sums) in float32.
  bool mixed = false;
  double default_loss_scale = 1;
};

// The forward graph in that precision. Casts of weights are made once, of activations for each reader, as PyTorch does.
Graph with_precision(Graph graph, const Precision& precision);

}  // namespace monet::training
