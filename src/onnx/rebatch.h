// Another batch size for files that have theirs baked in. Exporters write the batch into the targets of Reshape and
// Expand; reading such a file once as it is shows where, and a second reading puts the new size there.
#pragma once

#include "graph/shape.h"

#include <optional>
#include <unordered_map>

namespace monet::onnx {

// Shapes around a Reshape or Expand in a file as it is.
struct BatchSite {
  Shape input;
  Shape output;
  std::vector<std::int64_t> target;  // the constant that decides the output
};

using BatchRecord = std::unordered_map<std::size_t, BatchSite>;  // by position of the node

struct BatchCorrection {
  BatchRecord record;
  std::int64_t from = 1;
  std::int64_t to = 1;
  bool expand = false;  // also the leading size of Expand and ConstantOfShape, which may or may not be the batch
};

// The target of a Reshape whose input grew from `site.input` to `input`, so that the batch stays where it was in
// row-major order: an axis that is the old batch itself, else one with the same number of elements before it, else one
// that joins those with it. Nothing when the growth is not along one axis or no axis can take it.
std::optional<std::vector<std::int64_t>> corrected_reshape(const BatchSite& site, const Shape& input, std::int64_t from,
                                                           std::int64_t to);

}  // namespace monet::onnx
