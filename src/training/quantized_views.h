// From the operand of a product back to the tensor that it shows, with the axes of its groups.
#pragma once

#include "graph/graph.h"

#include <optional>
#include <vector>

namespace monet::training {

// A tensor, the format that it is wanted in, and the views from it to the operand, the nearest to the tensor first.
struct Source {
  TensorId tensor;
  Format format;
  std::vector<NodeId> views;
  Format seen;  // the format as the operand has it
};

// `number` with its groups along `contracted` and, where they are squares, `other`; scales of channels along `other`.
Format grouped_along(const Format& number, std::size_t rank, std::size_t contracted, std::size_t other);

// The farthest tensor behind casts, transposes and reshapes whose groups are the operand's: groups of an axis that a
// reshape splits or joins must not cross its parts. Squares of joined axes are padded at their parts instead, so that
// one copy serves all.
Source source_of(const Graph& graph, TensorId operand, const Format& number, std::size_t contracted, std::size_t other);

// The format of what `view` shows of a tensor of that format.
Format seen_through(const Graph& graph, const Node& view, const Format& format);

// The tensor behind all views and casts.
TensorId behind_views(const Graph& graph, TensorId tensor);
// And behind what only gathers or pads: the values that a tensor has.
TensorId origin_of(const Graph& graph, TensorId tensor);

}  // namespace monet::training
