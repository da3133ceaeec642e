#include "graph/infer.h"

#include <fmt/format.h>

namespace monet {

namespace {

using Integers = std::vector<std::int64_t>;

Error misfit(const OperatorTypes& operation, const Shape& shape, std::int64_t axis, std::int64_t blocks) {
  return shape_error(fmt::format("{} over {} chips cannot work along axis {} of {} in {} blocks", name_of(operation.op),
                                 operation.attributes.integer(Attr::group), axis, to_string(shape), blocks));
}

bool has_axis(const Shape& shape, std::int64_t axis) {
  return axis >= 0 && axis < static_cast<std::int64_t>(shape.size());
}

// The axis whole, of which this is one chip's pieces.
Expected<Shape> gathered(const OperatorTypes& operation, Shape shape, std::int64_t axis, std::int64_t blocks) {
  const std::int64_t group = operation.attributes.integer(Attr::group);
  if (!has_axis(shape, axis) || blocks < 1) return misfit(operation, shape, axis, blocks);
  std::int64_t& size = shape[static_cast<std::size_t>(axis)];
  if (size % blocks != 0 || size > max_elements / group) return misfit(operation, shape, axis, blocks);
  size *= group;
  return shape;
}

// One chip's pieces of it.
Expected<Shape> scattered(const OperatorTypes& operation, Shape shape, std::int64_t axis, std::int64_t blocks) {
  const std::int64_t group = operation.attributes.integer(Attr::group);
  if (!has_axis(shape, axis) || blocks < 1 || blocks > max_elements) return misfit(operation, shape, axis, blocks);
  std::int64_t& size = shape[static_cast<std::size_t>(axis)];
  if (size % group != 0 || size / group % blocks != 0) return misfit(operation, shape, axis, blocks);
  size /= group;
  return shape;
}

Expected<Types> infer_along_axes(const OperatorTypes& operation) {
  const Integers& axes = operation.attributes.integers(Attr::axes);
  const Integers& blocks = operation.attributes.integers(Attr::blocks);
  if (operation.op == Op::AllToAll) {
    if (axes.size() != 2 || blocks.size() != 2 || operation.inputs.size() != 1)
      return shape_error("AllToAll takes one tensor, two axes and their blocks");
    if (axes[0] == axes[1]) return misfit(operation, operation.shape(0), axes[1], blocks[1]);
    auto whole = gathered(operation, operation.shape(0), axes[0], blocks[0]);
    if (!whole) return whole.error();
    auto cut = scattered(operation, *std::move(whole), axes[1], blocks[1]);
    if (!cut) return cut.error();
    return Types{{*std::move(cut), operation.format(0)}};
  }
  if (axes.size() != operation.inputs.size() || blocks.size() != operation.inputs.size()) {
    return shape_error(fmt::format("{} of {} tensors has {} axes and {} blocks", name_of(operation.op),
                                   operation.inputs.size(), axes.size(), blocks.size()));
  }
  Types types;
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    if (!operation.has(i)) return shape_error(fmt::format("{} lacks its input {}", name_of(operation.op), i + 1));
    auto shape = operation.op == Op::AllGather ? gathered(operation, operation.shape(i), axes[i], blocks[i])
                                               : scattered(operation, operation.shape(i), axes[i], blocks[i]);
    if (!shape) return shape.error();
    types.push_back({*std::move(shape), operation.format(i)});
  }
  return types;
}

}  // namespace

Expected<Types> infer_collective(const OperatorTypes& operation) {
  const std::int64_t group = operation.attributes.integer(Attr::group);
  if (group < 1 || group > max_elements) {
    return shape_error(fmt::format("{} over a group of {} chips is not possible", name_of(operation.op), group));
  }
  switch (operation.op) {
    case Op::AllGather:
    case Op::ReduceScatter:
    case Op::AllToAll: return infer_along_axes(operation);
    default: break;
  }
  Types types;
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    if (!operation.has(i)) return shape_error(fmt::format("{} lacks its input {}", name_of(operation.op), i + 1));
    types.push_back(*operation.inputs[i]);
  }
  return types;
}

}  // namespace monet
