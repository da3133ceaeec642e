// Low-rank adaptation (Hu et al. 2021): weights stay, and beside each of them a product of two thin trained matrices is
// added: y = x·W + (alpha / rank) · (x·Aᵀ)·Bᵀ. For a convolution A is a convolution to `rank` channels with the same
// window and B one of 1x1.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <string>
#include <vector>

namespace monet::training {

struct LoraOptions {
  std::int64_t rank = 8;
  double alpha = 8;
  // Patterns of weight names. None: every weight of a product or ungrouped convolution except those of output layers
  // and of lookups, as common tools choose.
  std::vector<std::string> targets;
};

struct LoraGraph {
  Graph graph;
  std::vector<TensorId> added;  // the new parameters, named W.lora_A and W.lora_B
};

// Fails when the rank is not positive, a pattern matches no weight that can be adapted, or there is none.
Expected<LoraGraph> add_lora(Graph graph, const LoraOptions& options);

}  // namespace monet::training
