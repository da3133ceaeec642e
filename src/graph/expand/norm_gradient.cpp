#include "graph/expand/norm_gradient.h"

#include <numeric>

namespace monet {

namespace {

using Integers = std::vector<std::int64_t>;

// All axes but the channels'.
Integers all_but_channels(std::size_t rank) {
  Integers axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + 1);
  return axes;
}

// In the type in which sums are made.
TensorId in_sum_type(Expansion& e, std::size_t input) {
  return e.cast(e.input(input), statistics_type(e.type(e.input(1))));
}

// Gradients of parameters have the type of the parameters.
void give_parameter(Expansion& e, std::size_t output, TensorId value) {
  if (!e.wants(output)) return;
  const auto to = e.attributes().integer_or(Attr::to, static_cast<std::int64_t>(e.type(e.input(2))));
  e.output(output, e.cast(value, static_cast<ElementType>(to)));
}

void give_input(Expansion& e, TensorId value) { e.output(0, e.cast(value, e.type(e.input(1)))); }

// x̂ = (X − mean) · inverse
TensorId normalized(Expansion& e, TensorId x, TensorId mean, TensorId inverse) {
  return e.times(e.minus(x, mean), inverse);
}

// With g = dY · scale:  dX = inverse · (g − mean(g) − x̂ · mean(g · x̂))
TensorId centred_gradient(Expansion& e, TensorId g, TensorId x, TensorId inverse, const Integers& axes) {
  const TensorId mean = e.reduce_mean(g, axes, true);
  const TensorId along = e.times(x, e.reduce_mean(e.times(g, x), axes, true));
  return e.times(inverse, e.minus(e.minus(g, mean), along));
}

// dscale = Σ dY · x̂, dbias = Σ dY
void batch_parameters(Expansion& e) {
  const std::size_t rank = e.input_shape(1).size();
  const TensorId dy = in_sum_type(e, 0);
  const TensorId x =
      normalized(e, in_sum_type(e, 1), by_channel(e, in_sum_type(e, 2), rank), by_channel(e, in_sum_type(e, 3), rank));
  give_parameter(e, 0, e.reduce_sum(e.times(dy, x), all_but_channels(rank), false));
  if (e.wants(1)) give_parameter(e, 1, e.reduce_sum(dy, all_but_channels(rank), false));
}

// dX = scale · inverse · (dY − (dbias + x̂ · dscale) / n)
void batch_input(Expansion& e) {
  const Shape shape = e.input_shape(1);
  const auto channel = [&](std::size_t i) { return by_channel(e, in_sum_type(e, i), shape.size()); };
  const TensorId inverse = channel(4);
  const TensorId x = normalized(e, in_sum_type(e, 1), channel(3), inverse);
  const std::int64_t count = shape[1] == 0 ? 1 : element_count(shape) / shape[1];
  const TensorId shared = e.over(e.plus(channel(6), e.times(x, channel(5))), static_cast<double>(count));
  give_input(e, e.times(e.times(channel(2), inverse), e.minus(in_sum_type(e, 0), shared)));
}

void layer_parameters(Expansion& e) {
  const Shape& shape = e.attributes().integers(Attr::shape);
  const TensorId dy = in_sum_type(e, 0);
  const TensorId x = normalized(e, in_sum_type(e, 1), in_sum_type(e, 2), in_sum_type(e, 3));
  give_parameter(e, 0, e.sum_to(e.times(dy, x), shape));
  if (e.wants(1)) give_parameter(e, 1, e.sum_to(dy, shape));
}

void layer_input(Expansion& e) {
  const Integers axes = axes_from(e.attributes().integer(Attr::axis), e.input_shape(1).size());
  const TensorId inverse = in_sum_type(e, 4);
  const TensorId x = normalized(e, in_sum_type(e, 1), in_sum_type(e, 3), inverse);
  const TensorId g = e.times(in_sum_type(e, 0), in_sum_type(e, 2));
  give_input(e, centred_gradient(e, g, x, inverse, axes));
}

void rms_parameters(Expansion& e) {
  const TensorId x = e.times(in_sum_type(e, 1), in_sum_type(e, 2));
  give_parameter(e, 0, e.sum_to(e.times(in_sum_type(e, 0), x), e.attributes().integers(Attr::shape)));
}

// With g = dY · scale, x̂ = X · inverse:  dX = inverse · (g − x̂ · mean(g · x̂))
void rms_input(Expansion& e) {
  const Integers axes = axes_from(e.attributes().integer(Attr::axis), e.input_shape(1).size());
  const TensorId inverse = in_sum_type(e, 3);
  const TensorId x = e.times(in_sum_type(e, 1), inverse);
  const TensorId g = e.times(in_sum_type(e, 0), in_sum_type(e, 2));
  const TensorId along = e.times(x, e.reduce_mean(e.times(g, x), axes, true));
  give_input(e, e.times(inverse, e.minus(g, along)));
}

// Statistics of the groups as columns beside group_rows().
TensorId group_column(Expansion& e, std::size_t input) {
  Shape shape = e.input_shape(input);
  shape.push_back(1);
  return e.reshape(in_sum_type(e, input), std::move(shape));
}

void group_parameters(Expansion& e) {
  const Shape shape = e.input_shape(1);
  const TensorId dy = in_sum_type(e, 0);
  const TensorId rows = group_rows(e, in_sum_type(e, 1), e.attributes().integer(Attr::num_groups));
  const TensorId x = normalized(e, rows, group_column(e, 2), group_column(e, 3));
  const Integers axes = all_but_channels(shape.size());
  give_parameter(e, 0, e.reduce_sum(e.times(dy, e.reshape(x, shape)), axes, false));
  if (e.wants(1)) give_parameter(e, 1, e.reduce_sum(dy, axes, false));
}

void group_input(Expansion& e) {
  const Shape shape = e.input_shape(1);
  const std::int64_t groups = e.attributes().integer(Attr::num_groups);
  const TensorId inverse = group_column(e, 4);
  const TensorId x = normalized(e, group_rows(e, in_sum_type(e, 1), groups), group_column(e, 3), inverse);
  const TensorId g = e.times(in_sum_type(e, 0), by_channel(e, in_sum_type(e, 2), shape.size()));
  give_input(e, e.reshape(centred_gradient(e, group_rows(e, g, groups), x, inverse, {2}), shape));
}

}  // namespace

std::vector<std::int64_t> axes_from(std::int64_t first, std::size_t rank) {
  std::vector<std::int64_t> axes(rank - static_cast<std::size_t>(first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

ElementType statistics_type(ElementType of) {
  return of == ElementType::float64 ? ElementType::float64 : ElementType::float32;
}

TensorId by_channel(OpWriter& writer, TensorId values, std::size_t rank) {
  Shape shape(rank, 1);
  shape[1] = writer.shape(values)[0];
  return writer.reshape(values, std::move(shape));
}

TensorId group_rows(OpWriter& writer, TensorId values, std::int64_t groups) {
  const Shape shape = writer.shape(values);
  std::int64_t rest = groups == 0 ? 0 : shape[1] / groups;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) rest *= shape[axis];
  return writer.reshape(values, {shape[0], groups, rest});
}

ExpansionRule norm_gradient_expansion(Op op) {
  switch (op) {
    case Op::BatchNormalizationParameterGrad: return batch_parameters;
    case Op::BatchNormalizationGrad: return batch_input;
    case Op::LayerNormalizationParameterGrad: return layer_parameters;
    case Op::LayerNormalizationGrad: return layer_input;
    case Op::RMSNormalizationParameterGrad: return rms_parameters;
    case Op::RMSNormalizationGrad: return rms_input;
    case Op::GroupNormalizationParameterGrad: return group_parameters;
    case Op::GroupNormalizationGrad: return group_input;
    default: return nullptr;
  }
}

}  // namespace monet
