// One element of a tensor, followed through views to where it is stored.
#pragma once

#include "graph/graph.h"

#include <vector>

namespace monet::check {

struct Element {
  TensorId tensor;
  Shape index;
};

// Position in a tensor of that shape, row by row.
std::int64_t row_major(const Shape& shape, const Shape& index);

class ViewWalker {
 public:
  explicit ViewWalker(const Graph& graph) : graph_(graph) {}

  // Replaces an element of a view by the element behind it, until that is no view's.
  void to_storage(Element& element);

 private:
  void step(const Node& view, Element& element);

  const Graph& graph_;
  Shape other_;
};

}  // namespace monet::check
