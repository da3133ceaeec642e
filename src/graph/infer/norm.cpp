#include "graph/infer.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

// Statistics are kept in single precision at least.
TensorType statistic_type(const OperatorTypes& operation, Shape shape) {
  const bool wide = operation.format(0).element == ElementType::float64;
  return {std::move(shape), {.element = wide ? ElementType::float64 : ElementType::float32}};
}

Status check_rank(const OperatorTypes& operation, std::size_t least) {
  if (operation.shape(0).size() >= least) return Done{};
  return shape_error(fmt::format("{} needs an input of at least {} axes, not {}", name_of(operation.op), least,
                                 to_string(operation.shape(0))));
}

// Inputs `first` to `last` hold one value for each channel.
Status check_per_channel(const OperatorTypes& operation, std::size_t first, std::size_t last) {
  static constexpr std::array names = {"input", "scale", "bias", "mean", "variance"};
  const Shape wanted = {operation.shape(0)[1]};
  for (std::size_t i = first; i <= last; ++i) {
    if (operation.shape(i) != wanted) {
      return shape_error(fmt::format("the {} of {} is {} for {} channels", names[i], name_of(operation.op),
                                     to_string(operation.shape(i)), wanted[0]));
    }
  }
  return Done{};
}

Expected<Types> infer_batch(const OperatorTypes& operation) {
  MONET_RETURN_IF_ERROR(check_rank(operation, 2));
  MONET_RETURN_IF_ERROR(check_per_channel(operation, 1, 4));
  const TensorType output{operation.shape(0), operation.format(0)};
  if (operation.attributes.integer(Attr::training_mode) == 0) return Types{output};
  const TensorType statistic = statistic_type(operation, {operation.shape(0)[1]});
  return Types{output, *operation.inputs[3], *operation.inputs[4], statistic, statistic};
}

// Layer and root-mean-square normalization: over all axes from `axis` on.
Expected<Types> infer_layer(const OperatorTypes& operation) {
  MONET_RETURN_IF_ERROR(check_axis(operation));
  const Shape& input = operation.shape(0);
  for (std::size_t i = 1; i < 3; ++i) {
    if (operation.has(i) && broadcast(operation.shape(i), input) != input) {
      return shape_error(fmt::format("the {} of {} is {}, which does not fit an input of {}", i == 1 ? "scale" : "bias",
                                     name_of(operation.op), to_string(operation.shape(i)), to_string(input)));
    }
  }
  Shape rows = input;
  std::fill(rows.begin() + operation.attributes.integer(Attr::axis), rows.end(), 1);
  const TensorType statistic{rows, {.element = ElementType::float32}};
  Types types = {{input, operation.format(0)}, statistic};
  if (operation.op == Op::LayerNormalization) types.push_back(statistic);
  return types;
}

Status check_groups(const OperatorTypes& operation) {
  const std::int64_t groups = operation.attributes.integer(Attr::num_groups);
  const std::int64_t channels = operation.shape(0)[1];
  if (groups >= 1 && channels % groups == 0) return Done{};
  return shape_error(fmt::format("GroupNormalization cannot divide {} channels into {} groups", channels, groups));
}

// Group and instance normalization: statistics for each group of channels of each sample.
Expected<Types> infer_groups(const OperatorTypes& operation) {
  const bool instances = operation.op == Op::InstanceNormalization;
  MONET_RETURN_IF_ERROR(check_rank(operation, instances ? 3 : 2));
  MONET_RETURN_IF_ERROR(check_per_channel(operation, 1, 2));
  if (!instances) MONET_RETURN_IF_ERROR(check_groups(operation));
  const Shape& input = operation.shape(0);
  const std::int64_t groups = instances ? input[1] : operation.attributes.integer(Attr::num_groups);
  const TensorType statistic = statistic_type(operation, {input[0], groups});
  return Types{{input, operation.format(0)}, statistic, statistic};
}

Status check_order(const OperatorTypes& operation) {
  const std::int64_t p = operation.attributes.integer(Attr::p);
  if (p == 1 || p == 2) return Done{};
  return shape_error(fmt::format("LpNormalization has the order p = {}", p), "use 1 or 2");
}

Status check_size(const OperatorTypes& operation) {
  const std::int64_t size = operation.attributes.integer(Attr::size);
  if (size >= 1 && size <= std::int64_t{1} << 31) return Done{};
  return shape_error(fmt::format("LRN sums over {} channels", size), "use a size of at least 1");
}

Status check(const OperatorTypes& operation) {
  switch (operation.op) {
    case Op::LpNormalization: MONET_RETURN_IF_ERROR(check_axis(operation)); return check_order(operation);
    case Op::MeanVarianceNormalization: return check_axes(operation);
    case Op::LRN: MONET_RETURN_IF_ERROR(check_rank(operation, 2)); return check_size(operation);
    default: return Done{};
  }
}

}  // namespace

Expected<Types> infer_norm(const OperatorTypes& operation) {
  switch (operation.op) {
    case Op::BatchNormalization: return infer_batch(operation);
    case Op::LayerNormalization:
    case Op::RMSNormalization: return infer_layer(operation);
    case Op::GroupNormalization:
    case Op::InstanceNormalization: return infer_groups(operation);
    case Op::BatchNormalizationParameterGrad:
    case Op::BatchNormalizationGrad:
    case Op::LayerNormalizationParameterGrad:
    case Op::LayerNormalizationGrad:
    case Op::RMSNormalizationParameterGrad:
    case Op::RMSNormalizationGrad:
    case Op::GroupNormalizationParameterGrad:
    case Op::GroupNormalizationGrad: return infer_norm_gradient(operation);
    default: MONET_RETURN_IF_ERROR(check(operation)); return Types{{operation.shape(0), operation.format(0)}};
  }
}

}  // namespace monet
