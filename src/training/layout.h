// Where PyTorch would keep a tensor of the forward part: which storage, at which strides.
#pragma once

#include "graph/graph.h"

#include <optional>
#include <vector>

namespace monet::training {

struct Layout {
  TensorId storage;  // the tensor that the storage was made for
  std::vector<std::int64_t> strides;
};

// By tensor. Tensors that no forward node makes have a storage of their own.
std::vector<Layout> layouts(const Graph& graph);

// The strides of a view of that shape on a tensor of these sizes and strides, or nothing: it needs a copy.
// The rule of torch.Tensor.view.
std::optional<std::vector<std::int64_t>> view_strides(const Shape& from, const std::vector<std::int64_t>& strides,
                                                      const Shape& to);

}  // namespace monet::training
