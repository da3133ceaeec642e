#include "graph/infer.h"

#include "base/checked.h"
#include "base/try.h"

#include <fmt/format.h>

namespace monet {

namespace {

// Beyond this no window is meant seriously, and below it the products of two values fit 64 bits.
constexpr std::int64_t largest_window = std::int64_t{1} << 31;

Status check_values(const OperatorTypes& operation, Attr key, std::size_t count, std::int64_t least) {
  const auto& values = operation.attributes.integers(key);
  if (values.size() != count) {
    return shape_error(fmt::format("{} of {} has {} values where {} are needed", name_of(key), name_of(operation.op),
                                   values.size(), count));
  }
  for (std::int64_t value : values) {
    if (value < least || value > largest_window) {
      return shape_error(fmt::format("{} of {} holds {}, outside {} to {}", name_of(key), name_of(operation.op), value,
                                     least, largest_window));
    }
  }
  return Done{};
}

Status check_window(const OperatorTypes& operation) {
  const std::size_t rank = operation.shape(0).size();
  if (rank < 3 || rank > 5) {
    return shape_error(fmt::format("{} has an input of {}", name_of(operation.op), to_string(operation.shape(0))),
                       "give it a batch axis, a channel axis and one to three more");
  }
  MONET_RETURN_IF_ERROR(check_values(operation, Attr::kernel_shape, rank - 2, 1));
  MONET_RETURN_IF_ERROR(check_values(operation, Attr::strides, rank - 2, 1));
  MONET_RETURN_IF_ERROR(check_values(operation, Attr::dilations, rank - 2, 1));
  MONET_RETURN_IF_ERROR(check_values(operation, Attr::pads, 2 * (rank - 2), 0));
  if (operation.op == Op::LpPool && operation.attributes.integer(Attr::p) < 1) {
    return shape_error(fmt::format("LpPool has the order p = {}", operation.attributes.integer(Attr::p)),
                       "p is at least 1");
  }
  return Done{};
}

// `wide` is what the window slides over, `narrow` where it stops: as many places as fit, or one more (ceil_mode).
Status check_places(const OperatorTypes& operation, const Shape& wide, const Shape& narrow) {
  if (wide.size() != narrow.size() || wide[0] != narrow[0] || wide[1] != narrow[1]) {
    return shape_error(
        fmt::format("{} cannot lead from {} to {}", name_of(operation.op), to_string(wide), to_string(narrow)));
  }
  const Attributes& attributes = operation.attributes;
  const std::size_t spatial = wide.size() - 2;
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto& pads = attributes.integers(Attr::pads);
    const std::int64_t stride = attributes.integers(Attr::strides)[i];
    const std::int64_t window =
        (attributes.integers(Attr::kernel_shape)[i] - 1) * attributes.integers(Attr::dilations)[i] + 1;
    const std::int64_t slack = wide[i + 2] + pads[i] + pads[spatial + i] - window;
    if (slack < 0) {
      return shape_error(fmt::format("the window of {} spans {} elements, more than the {} of its padded input",
                                     name_of(operation.op), window, slack + window));
    }
    const std::int64_t least = slack / stride + 1;
    const std::int64_t most = ceil_divide(slack, stride) + 1;
    if (narrow[i + 2] < least || narrow[i + 2] > most) {
      return shape_error(fmt::format("the window of {} has {} places along axis {}, not {}", name_of(operation.op),
                                     least, i + 2, narrow[i + 2]));
    }
  }
  return Done{};
}

bool plausible(const Shape& shape) {
  for (std::int64_t size : shape) {
    if (size < 0 || size > max_elements) return false;
  }
  return true;
}

}  // namespace

Expected<Types> infer_pool(const OperatorTypes& operation) {
  MONET_RETURN_IF_ERROR(check_window(operation));
  const Shape& given = operation.attributes.integers(Attr::shape);
  if (!plausible(given)) {
    return shape_error(fmt::format("{} is to give a tensor of {}", name_of(operation.op), to_string(given)));
  }
  const TensorType output{given, operation.format(0)};
  if (operation.op == Op::AveragePoolGrad) {
    MONET_RETURN_IF_ERROR(check_places(operation, given, operation.shape(0)));
    return Types{output};
  }
  MONET_RETURN_IF_ERROR(check_places(operation, operation.shape(0), given));
  if (operation.op != Op::MaxPool) return Types{output};
  return Types{output, {given, {.element = ElementType::int64}}};
}

}  // namespace monet
