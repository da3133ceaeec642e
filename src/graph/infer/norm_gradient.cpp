#include "graph/infer/norm_gradient.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

Error misfit(const OperatorTypes& operation, std::string_view what, std::size_t input, const Shape& wanted) {
  return shape_error(fmt::format("{} of an input of {} has {} of {} where {} is needed", name_of(operation.op),
                                 to_string(operation.shape(1)), what, to_string(operation.shape(input)),
                                 to_string(wanted)));
}

Status check_shape(const OperatorTypes& operation, std::string_view what, std::size_t input, const Shape& wanted) {
  if (operation.shape(input) == wanted) return Done{};
  return misfit(operation, what, input, wanted);
}

bool of_parameters(Op op) {
  return op == Op::BatchNormalizationParameterGrad || op == Op::LayerNormalizationParameterGrad ||
         op == Op::RMSNormalizationParameterGrad || op == Op::GroupNormalizationParameterGrad;
}

bool of_rows(Op op) {
  return op == Op::LayerNormalizationParameterGrad || op == Op::LayerNormalizationGrad ||
         op == Op::RMSNormalizationParameterGrad || op == Op::RMSNormalizationGrad;
}

bool of_groups(Op op) { return op == Op::GroupNormalizationParameterGrad || op == Op::GroupNormalizationGrad; }

bool has_mean(Op op) { return op != Op::RMSNormalizationParameterGrad && op != Op::RMSNormalizationGrad; }

Expected<Shape> statistic_shape(const OperatorTypes& operation) {
  const Shape& input = operation.shape(1);
  if (of_rows(operation.op)) {
    const std::int64_t axis = operation.attributes.integer(Attr::axis);
    if (axis < 0 || axis >= static_cast<std::int64_t>(input.size())) {
      return shape_error(
          fmt::format("{} works along axis {} of an input of {}", name_of(operation.op), axis, to_string(input)));
    }
    Shape rows = input;
    std::fill(rows.begin() + axis, rows.end(), 1);
    return rows;
  }
  if (input.size() < 2) {
    return shape_error(
        fmt::format("{} needs an input of at least 2 axes, not {}", name_of(operation.op), to_string(input)));
  }
  if (!of_groups(operation.op)) return Shape{input[1]};
  const std::int64_t groups = operation.attributes.integer(Attr::num_groups);
  // Instances without channels are no groups at all.
  const bool divides = groups > 0 ? input[1] % groups == 0 : groups == 0 && input[1] == 0;
  if (!divides) {
    return shape_error(
        fmt::format("{} cannot divide {} channels into {} groups", name_of(operation.op), input[1], groups));
  }
  return Shape{input[0], groups};
}

// Scale and bias have one value for each channel, or any shape that broadcasts to the input.
Expected<Types> infer_parameters(const OperatorTypes& operation) {
  const Shape& input = operation.shape(1);
  Format format = operation.format(2);
  if (operation.attributes.has(Attr::to)) {
    MONET_TRY(format, target_format(operation));
  }
  const bool rows = of_rows(operation.op);
  Shape shape = rows ? operation.attributes.integers(Attr::shape) : Shape{input[1]};
  if (rows && (!impossible_shape(shape).empty() || broadcast(shape, input) != input)) {
    return shape_error(fmt::format("{} of an input of {} cannot belong to a scale of {}", name_of(operation.op),
                                   to_string(input), to_string(shape)));
  }
  const TensorType type{std::move(shape), format};
  return has_mean(operation.op) ? Types{type, type} : Types{type};
}

}  // namespace

Expected<Types> infer_norm_gradient(const OperatorTypes& operation) {
  const Shape& input = operation.shape(1);
  MONET_RETURN_IF_ERROR(check_shape(operation, "an output gradient", 0, input));
  MONET_TRY(const Shape statistics, statistic_shape(operation));
  const bool parameters = of_parameters(operation.op);
  std::size_t at = parameters ? 2 : 3;
  if (has_mean(operation.op)) MONET_RETURN_IF_ERROR(check_shape(operation, "a mean", at++, statistics));
  MONET_RETURN_IF_ERROR(check_shape(operation, "an inverse deviation", at++, statistics));
  if (parameters) return infer_parameters(operation);
  if (of_rows(operation.op)) {
    if (broadcast(operation.shape(2), input) != input) return misfit(operation, "a scale", 2, input);
  } else {
    MONET_RETURN_IF_ERROR(check_shape(operation, "a scale", 2, {input[1]}));
  }
  if (operation.op == Op::BatchNormalizationGrad) {
    MONET_RETURN_IF_ERROR(check_shape(operation, "a gradient of the scale", 5, statistics));
    MONET_RETURN_IF_ERROR(check_shape(operation, "a gradient of the bias", 6, statistics));
  }
  return Types{{input, operation.format(1)}};
}

}  // namespace monet
