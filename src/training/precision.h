// The number formats of a training step.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <string>

namespace monet::training {

struct Precision {
  ElementType compute = ElementType::float32;
  // Weights, their gradients and the optimizer stay in float32 (they are the master weights); products and convolutions
  // run in `compute` on casts of them, and what needs range (softmax, norms, losses, sums) in float32.
  bool mixed = false;
  double default_loss_scale = 1;
};

// fp32, bf16, fp16: everything in that format. mixed (bf16), mixed-fp16: see above.
Expected<Precision> parse_precision(const std::string& text);

// The forward graph in that precision. Casts of weights are made once, of activations for each reader, as PyTorch does.
Graph with_precision(Graph graph, const Precision& precision);

}  // namespace monet::training
