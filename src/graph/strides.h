// How a tensor lies in memory: strides, in elements, and the views that need no copy.
#pragma once

#include "graph/shape.h"

#include <optional>
#include <vector>

namespace monet {

using Strides = std::vector<std::int64_t>;

// Of a tensor without gaps whose axes lie in memory in that order, outermost first.
Strides dense_strides(const Shape& shape, const std::vector<std::size_t>& order);
// The last axis innermost.
Strides contiguous_strides(const Shape& shape);
// Dense, with the axes in the order in which `like` has them in memory: what an elementwise operator allocates.
Strides dense_strides_as(const Shape& shape, const Strides& like);

// The strides of a view of that shape on a tensor of these sizes and strides, or nothing: it needs a copy.
// The rule of torch.Tensor.view.
std::optional<Strides> view_strides(const Shape& from, const Strides& strides, const Shape& to);

}  // namespace monet
