#include "graph/expand.h"

#include <numeric>

namespace monet {

namespace {

using Integers = std::vector<std::int64_t>;

// first, first + 1, … up to the last axis.
Integers axes_from(std::int64_t first, std::size_t rank) {
  std::vector<std::int64_t> axes(rank - static_cast<std::size_t>(first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// Single precision at least, whatever is normalized.
ElementType statistics_type(ElementType of) {
  return of == ElementType::float64 ? ElementType::float64 : ElementType::float32;
}

// One value for each channel, shaped to broadcast to a tensor of that rank whose axis 1 are the channels.
TensorId by_channel(OpWriter& writer, TensorId values, std::size_t rank) {
  Shape shape(rank, 1);
  shape[1] = writer.shape(values)[0];
  return writer.reshape(values, std::move(shape));
}

// B x C x … as B x groups x the rest of each group.
TensorId group_rows(OpWriter& writer, TensorId values, std::int64_t groups) {
  const Shape shape = writer.shape(values);
  std::int64_t rest = groups == 0 ? 0 : shape[1] / groups;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) rest *= shape[axis];
  return writer.reshape(values, {shape[0], groups, rest});
}

TensorId widened(Expansion& e, std::size_t input) {
  return e.cast(e.input(input), statistics_type(e.type(e.input(0))));
}

struct Normalized {
  TensorId values;    // (x − mean) / sqrt(variance + epsilon)
  TensorId mean;      // axes kept
  TensorId variance;  // the same
  TensorId inverse;   // 1 / sqrt(variance + epsilon)
};

TensorId inverse_root(Expansion& e, TensorId variance) {
  const TensorId root = e.add(Op::Sqrt, {e.plus(variance, e.attributes().real(Attr::epsilon))});
  return e.add(Op::Reciprocal, {root});
}

Normalized normalized(Expansion& e, TensorId x, const Integers& axes) {
  const TensorId mean = e.reduce_mean(x, axes, true);
  const TensorId centred = e.minus(x, mean);
  const TensorId variance = e.reduce_mean(e.square(centred), axes, true);
  const TensorId inverse = inverse_root(e, variance);
  return {e.times(centred, inverse), mean, variance, inverse};
}

// values · scale + bias, by channel, in the type of output 0.
void give_affine(Expansion& e, TensorId values) {
  const std::size_t rank = e.input_shape(0).size();
  const TensorId scale = by_channel(e, widened(e, 1), rank);
  const TensorId bias = by_channel(e, widened(e, 2), rank);
  e.output(0, e.cast(e.plus(e.times(values, scale), bias), e.type(e.input(0))));
}

// Statistics of the batch, or those of the running averages.
void batch_normalization(Expansion& e) {
  const TensorId x = widened(e, 0);
  const std::size_t rank = e.input_shape(0).size();
  if (e.attributes().integer(Attr::training_mode) == 0) {
    const TensorId centred = e.minus(x, by_channel(e, widened(e, 3), rank));
    const TensorId inverse = inverse_root(e, widened(e, 4));
    return give_affine(e, e.times(centred, by_channel(e, inverse, rank)));
  }
  Integers axes = axes_from(1, rank);
  axes.front() = 0;
  const Normalized norm = normalized(e, x, axes);
  give_affine(e, norm.values);
  const Shape channels = {e.input_shape(0)[1]};
  // momentum · old + (1 − momentum) · new
  const auto average = [&](std::size_t output, std::size_t old, TensorId now) {
    if (!e.wants(output)) return;
    const double momentum = e.attributes().real(Attr::momentum);
    const TensorId fresh = e.cast(e.reshape(now, channels), e.type(e.input(old)));
    e.output(output, e.plus(e.times(e.input(old), momentum), e.times(fresh, 1 - momentum)));
  };
  average(1, 3, norm.mean);
  average(2, 4, norm.variance);
  if (e.wants(3)) e.output(3, e.reshape(norm.mean, channels));
  if (e.wants(4)) e.output(4, e.reshape(norm.inverse, channels));
}

// Y = X · inverse · scale,  inverse = 1 / sqrt(mean(X²) + epsilon)
void rms_normalization(Expansion& e) {
  const TensorId x = widened(e, 0);
  const Integers axes = axes_from(e.attributes().integer(Attr::axis), e.input_shape(0).size());
  const TensorId inverse = inverse_root(e, e.reduce_mean(e.square(x), axes, true));
  const TensorId values = e.times(e.times(x, inverse), widened(e, 1));
  e.output(0, e.cast(values, e.type(e.input(0))));
  if (e.wants(1)) e.output(1, e.cast(inverse, ElementType::float32));
}

// Groups of channels become rows.
void normalize_groups(Expansion& e, std::int64_t groups) {
  const Shape shape = e.input_shape(0);
  const Normalized norm = normalized(e, group_rows(e, widened(e, 0), groups), {2});
  give_affine(e, e.reshape(norm.values, shape));
  if (e.wants(1)) e.output(1, e.reshape(norm.mean, {shape[0], groups}));
  if (e.wants(2)) e.output(2, e.reshape(norm.inverse, {shape[0], groups}));
}

void group_normalization(Expansion& e) { normalize_groups(e, e.attributes().integer(Attr::num_groups)); }

void instance_normalization(Expansion& e) { normalize_groups(e, e.input_shape(0)[1]); }

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

}  // namespace

ExpansionRule norm_expansion(Op op) {
  switch (op) {
    case Op::BatchNormalization: return batch_normalization;
    case Op::RMSNormalization: return rms_normalization;
    case Op::GroupNormalization: return group_normalization;
    case Op::InstanceNormalization: return instance_normalization;
    default: return norm_gradient_expansion(op);
  }
}

}  // namespace monet
