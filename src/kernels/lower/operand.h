// A tensor as a kernel sees it: which buffer, at which strides.
#pragma once

#include "graph/format.h"
#include "graph/strides.h"
#include "kernels/lower/lowered_step.h"

namespace monet::lowering {

struct Operand {
  AllocationId buffer;
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;  // of the first element
  std::int64_t element_bytes = 4;

  std::int64_t elements() const { return element_count(shape); }
};

// Elements follow each other row by row; axes of size 1 do not count.
bool is_contiguous(const Operand& operand);
// Elements fill a part of the buffer without gaps, each once, in some order of axes.
bool is_dense(const Operand& operand);
// Dense, four axes, the second innermost.
bool is_channels_last(const Operand& operand);
// Some element stands for several.
bool is_broadcast(const Operand& operand);

// Different elements, in bytes: what a kernel moves.
std::int64_t moved_bytes(const Operand& operand);

// Nothing of it: what a framework keeps for an operator that does not read it.
Operand kept(const Operand& operand);
Operand permuted(const Operand& operand, const std::vector<std::int64_t>& order);
Operand swapped(const Operand& operand);  // the last two axes
Operand expanded(const Operand& operand, const Shape& shape);
// One axis: `size` elements from `start`, `step` apart.
Operand sliced(const Operand& operand, std::size_t axis, std::int64_t start, std::int64_t size, std::int64_t step);
// Nothing: it needs a copy.
std::optional<Operand> reshaped(const Operand& operand, const Shape& shape);

}  // namespace monet::lowering
