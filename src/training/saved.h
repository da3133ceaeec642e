// What the forward part leaves for the backward part: saved tensors, and the storage they keep alive.
#pragma once

#include "graph/graph.h"

#include <span>
#include <vector>

namespace monet::training {

// A tensor that is alive after the forward part because the backward part reads it. The same values in another order
// of axes (a transpose, a reshape) are the same tensor.
struct SavedTensor {
  TensorId tensor;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  // Of the storage that it keeps alive, a slice the whole of its base: 0 where a tensor before it keeps it already.
  std::int64_t storage_bytes = 0;
};

// `node`, a forward operator, saved `tensor` for its gradient.
struct SavedBy {
  NodeId node;
  TensorId tensor;
  bool kept = false;  // by PyTorch's rules, though nothing reads the values
};

// In the order of the graph; weights, inputs and constants are there anyway and not listed.
// Storage follows PyTorch: transposes, slices, splits, expansions and reshapes that strides allow are views of what
// they read; other reshapes and concatenations are copies; a batched product copies an operand whose batch axes cannot
// be merged.
// What is neither kept nor read by the backward part is left out.
std::vector<SavedTensor> saved_tensors(const Graph& graph, std::span<const SavedBy> saves);

// The same for a step made elsewhere: what nodes of the forward part make and nodes of the backward part read.
std::vector<SavedBy> saves_of(const Graph& graph);

}  // namespace monet::training
