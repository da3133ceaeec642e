// Where PyTorch would keep a tensor of the forward part: which storage, at which strides.
#pragma once

#include "graph/graph.h"
#include "graph/strides.h"

#include <vector>

namespace monet::training {

struct Layout {
  TensorId storage;  // the tensor that the storage was made for
  Strides strides;
};

// By tensor. Tensors that no forward node makes have a storage of their own.
std::vector<Layout> layouts(const Graph& graph);

}  // namespace monet::training
