#include "graph/infer.h"

#include "base/try.h"

#include <fmt/format.h>

namespace monet {

namespace {

Shape reduced(const Shape& shape, std::span<const std::int64_t> axes, bool keep) {
  Shape result = shape;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    result[axis] = 1;
    if (!keep) result.erase(result.begin() + axes[i]);
  }
  return result;
}

Expected<Types> infer_top_k(const OperatorTypes& operation) {
  Shape shape = operation.shape(0);
  std::int64_t& size = shape[static_cast<std::size_t>(operation.attributes.integer(Attr::axis))];
  const std::int64_t k = operation.attributes.integer(Attr::k);
  if (k < 0 || k > size) return shape_error(fmt::format("TopK picks {} elements of {}", k, size));
  size = k;
  return Types{{shape, operation.format(0)}, {shape, {.element = ElementType::int64}}};
}

}  // namespace

Expected<Types> infer_reduction(const OperatorTypes& operation) {
  const Shape& input = operation.shape(0);
  switch (operation.op) {
    case Op::ArgMax:
    case Op::ArgMin: {
      MONET_RETURN_IF_ERROR(check_axis(operation));
      const std::int64_t axis = operation.attributes.integer(Attr::axis);
      const bool keep = operation.attributes.integer(Attr::keepdims) != 0;
      return Types{{reduced(input, {&axis, 1}, keep), {.element = ElementType::int64}}};
    }
    case Op::CumSum: MONET_RETURN_IF_ERROR(check_axis(operation)); return Types{{input, operation.format(0)}};
    case Op::TopK: MONET_RETURN_IF_ERROR(check_axis(operation)); return infer_top_k(operation);
    case Op::Hardmax: MONET_RETURN_IF_ERROR(check_axes(operation)); return Types{{input, operation.format(0)}};
    default: {
      MONET_RETURN_IF_ERROR(check_axes(operation));
      const bool keep = operation.attributes.integer(Attr::keepdims) != 0;
      return Types{{reduced(input, operation.attributes.integers(Attr::axes), keep), operation.format(0)}};
    }
  }
}

}  // namespace monet
