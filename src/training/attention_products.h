// Fused attention as matrix products and a softmax.
#pragma once

#include "graph/graph.h"

namespace monet::training {

// Every Attention of a forward graph becomes Q·Kᵀ, the mask, Softmax, and the product with V, so that number formats
// can reach its products. Tensors keep their names. Unlike fused attention a row that is masked as a whole is not a
// number.
Graph attention_as_products(Graph graph);

}  // namespace monet::training
