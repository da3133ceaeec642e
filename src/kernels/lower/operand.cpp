#include "kernels/lower/operand.h"

#include <algorithm>
#include <utility>

namespace monet::lowering {

namespace {

Operand viewed(const Operand& operand, Shape shape, Strides strides) {
  Operand view = operand;
  view.shape = std::move(shape);
  view.strides = std::move(strides);
  return view;
}

bool agree(const Shape& shape, const Strides& a, const Strides& b) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1 && a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace

bool is_contiguous(const Operand& operand) {
  return agree(operand.shape, operand.strides, contiguous_strides(operand.shape));
}

bool is_dense(const Operand& operand) {
  return agree(operand.shape, operand.strides, dense_strides_as(operand.shape, operand.strides));
}

bool is_channels_last(const Operand& operand) {
  return operand.shape.size() == 4 && !is_contiguous(operand) &&
         agree(operand.shape, operand.strides, dense_strides(operand.shape, {0, 2, 3, 1}));
}

bool is_broadcast(const Operand& operand) {
  for (std::size_t i = 0; i < operand.shape.size(); ++i) {
    if (operand.shape[i] > 1 && operand.strides[i] == 0) return true;
  }
  return false;
}

std::int64_t moved_bytes(const Operand& operand) {
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < operand.shape.size(); ++i) {
    if (operand.strides[i] != 0 || operand.shape[i] == 0) elements *= operand.shape[i];
  }
  return elements * operand.element_bytes;
}

Operand kept(const Operand& operand) { return viewed(operand, {0}, {1}); }

Operand permuted(const Operand& operand, const std::vector<std::int64_t>& order) {
  Shape shape;
  Strides strides;
  for (std::int64_t axis : order) {
    shape.push_back(operand.shape[static_cast<std::size_t>(axis)]);
    strides.push_back(operand.strides[static_cast<std::size_t>(axis)]);
  }
  return viewed(operand, std::move(shape), std::move(strides));
}

Operand swapped(const Operand& operand) {
  Operand view = operand;
  const std::size_t last = view.shape.size() - 1;
  std::swap(view.shape[last], view.shape[last - 1]);
  std::swap(view.strides[last], view.strides[last - 1]);
  return view;
}

Operand expanded(const Operand& operand, const Shape& shape) {
  Strides strides(shape.size(), 0);
  const std::size_t lead = shape.size() - operand.shape.size();
  for (std::size_t i = 0; i < operand.shape.size(); ++i) {
    if (operand.shape[i] == shape[lead + i]) strides[lead + i] = operand.strides[i];
  }
  return viewed(operand, shape, std::move(strides));
}

Operand sliced(const Operand& operand, std::size_t axis, std::int64_t start, std::int64_t size, std::int64_t step) {
  Operand view = operand;
  view.offset += start * view.strides[axis];
  view.shape[axis] = size;
  if (size > 1) view.strides[axis] *= step;
  return view;
}

std::optional<Operand> reshaped(const Operand& operand, const Shape& shape) {
  auto strides = view_strides(operand.shape, operand.strides, shape);
  if (!strides) return std::nullopt;
  return viewed(operand, shape, std::move(*strides));
}

}  // namespace monet::lowering
