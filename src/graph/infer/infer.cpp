#include "graph/infer.h"

#include "base/checked.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

Expected<Types> infer_by_family(const OperatorTypes& operation) {
  switch (family_of(operation.op)) {
    case OpFamily::elementwise: return infer_elementwise(operation);
    case OpFamily::contraction: return infer_contraction(operation);
    case OpFamily::convolution: return infer_convolution(operation);
    case OpFamily::pool: return infer_pool(operation);
    case OpFamily::reduction: return infer_reduction(operation);
    case OpFamily::softmax: return infer_softmax(operation);
    case OpFamily::norm: return infer_norm(operation);
    case OpFamily::view: return infer_view(operation);
    case OpFamily::movement: return infer_movement(operation);
    case OpFamily::generate: return infer_generate(operation);
    case OpFamily::optimizer: return infer_optimizer(operation);
    case OpFamily::custom: return infer_custom(operation);
    case OpFamily::collective: return infer_collective(operation);
  }
  return shape_error("unknown operator family");
}

}  // namespace

Expected<Format> target_format(const OperatorTypes& operation) {
  const std::int64_t to = operation.attributes.integer(Attr::to);
  if (!is_known(to)) {
    return shape_error(fmt::format("{} asks for the unknown element type {}", name_of(operation.op), to));
  }
  return Format{.element = static_cast<ElementType>(to)};
}

Status check_axis(const OperatorTypes& operation) {
  const std::int64_t axis = operation.attributes.integer(Attr::axis);
  if (axis >= 0 && axis < static_cast<std::int64_t>(operation.shape(0).size())) return Done{};
  return shape_error(fmt::format("{} works along axis {} of an input of {}", name_of(operation.op), axis,
                                 to_string(operation.shape(0))));
}

Status check_axes(const OperatorTypes& operation) {
  std::int64_t last = -1;
  for (std::int64_t axis : operation.attributes.integers(Attr::axes)) {
    if (axis <= last || axis >= static_cast<std::int64_t>(operation.shape(0).size())) {
      return shape_error(fmt::format("{} has axis {} in a list that is not ascending or not among those of {}",
                                     name_of(operation.op), axis, to_string(operation.shape(0))));
    }
    last = axis;
  }
  return Done{};
}

std::string impossible_shape(const Shape& shape) {
  if (shape.size() > max_rank) return fmt::format("more than {} axes", max_rank);
  if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; })) return "an axis of negative size";
  const auto count = checked_product(shape);
  return count && *count <= max_elements ? "" : "more elements than can be counted";
}

namespace {

// Views move nothing, and the others become chains of operators of few inputs (graph/narrow.h).
bool takes_any_number(Op op) {
  return family_of(op) == OpFamily::view || op == Op::Sum || op == Op::Max || op == Op::Min || op == Op::Mean;
}

}  // namespace

Expected<Types> infer(const OperatorTypes& operation) {
  if (operation.inputs.size() > max_operands && !takes_any_number(operation.op)) {
    return shape_error(fmt::format("{} has more than {} inputs", name_of(operation.op), max_operands));
  }
  const std::size_t required = required_inputs(operation.op);
  for (std::size_t i = 0; i < required; ++i) {
    if (!operation.has(i)) {
      return shape_error(
          fmt::format("{} needs {} inputs, and input {} is missing", name_of(operation.op), required, i + 1));
    }
  }
  auto types = infer_by_family(operation);
  if (!types) return types;
  for (const TensorType& type : *types) {
    if (const std::string reason = impossible_shape(type.shape); !reason.empty()) {
      return shape_error(
          fmt::format("{} gives a tensor of {}: {}", name_of(operation.op), to_string(type.shape), reason));
    }
  }
  return types;
}

}  // namespace monet
