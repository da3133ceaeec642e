// Chains of views, composed down to the tensors that are stored.
#pragma once

#include "evaluate/tiles/index_map.h"
#include "graph/graph.h"

#include <cstdint>
#include <vector>

namespace monet::tiling {

// Axes of the view that belong together, and where they lead in the stored tensor. Few groups have more than one axis
// on a side: those that a reshape has joined.
struct ViewPart {
  std::vector<std::uint8_t> axes;  // of the view, slowest first
  IndexMap map;
};

// A stored tensor and which of its elements the view shows: the product of the parts. A concatenation has several.
struct Leaf {
  TensorId tensor;
  std::vector<ViewPart> parts;
  bool all = false;  // not worked out: any element
};

// Whether the tensor is only a way to look at others.
bool is_view(const Graph& graph, TensorId id);

// What the elements of a tensor of `shape` are, given by parts that lead to `tensor`. Further down from there through
// views. `limit`: of the leaves; beyond it they are the stored tensors with `all` set, each once.
std::vector<Leaf> leaves_of(const Graph& graph, TensorId tensor, std::vector<ViewPart> parts, std::size_t limit);

// Parts of a tensor that is read as it is: each axis alone.
std::vector<ViewPart> own_axes(const Shape& shape);

// Appends `fast` to `slow`: they belong together.
void join(ViewPart& slow, const ViewPart& fast);

}  // namespace monet::tiling
