#include "training/gradient_builder.h"

#include <numeric>

namespace monet::training {

namespace {

using Integers = std::vector<std::int64_t>;

// 1 instead of 0: a row of zeros has no direction, and its gradient stays finite.
TensorId nonzero(GradientBuilder& g, TensorId a) {
  return g.where(g.add(Op::Equal, {a, g.scalar(0, a)}), g.scalar(1, a), a);
}

// Sum over `size` channels around each one, from `before` channels before it.
TensorId sum_of_neighbours(GradientBuilder& g, TensorId a, std::int64_t size, std::int64_t before) {
  const Shape shape = g.input_shape();
  std::int64_t inner = 1;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) inner *= shape[axis];
  const Shape rows = {shape[0], 1, shape[1], inner};
  const TensorId mean = g.add(Op::AveragePool, {g.reshape(a, rows)},
                              {{Attr::kernel_shape, Integers{size, 1}},
                               {Attr::strides, Integers{1, 1}},
                               {Attr::dilations, Integers{1, 1}},
                               {Attr::pads, Integers{before, 0, size - 1 - before, 0}},
                               {Attr::count_include_pad, std::int64_t{1}},
                               {Attr::shape, rows}});
  return g.times(g.reshape(mean, shape), static_cast<double>(size));
}

// Y = X / n, n = ‖X‖ₚ:  dX = (dY − s · Σ dY · Y) / n  with s = Y for p = 2, sign(X) for p = 1
void lp_normalization(GradientBuilder& g) {
  const Attributes over = {{Attr::axes, Integers{g.attributes().integer(Attr::axis)}},
                           {Attr::keepdims, std::int64_t{1}}};
  const bool squared = g.attributes().integer(Attr::p) == 2;
  const TensorId x = g.input();
  const TensorId length = nonzero(g, g.add(squared ? Op::ReduceL2 : Op::ReduceL1, {x}, over));
  const TensorId y = g.over(x, length);
  const TensorId slope = squared ? y : g.add(Op::Sign, {x});
  const TensorId along = g.add(Op::ReduceSum, {g.times(g.output_gradient(), y)}, over);
  g.accumulate(0, g.over(g.minus(g.output_gradient(), g.times(slope, along)), length));
}

// Y = C / (σ + ε), C = X − mean(X), σ² = mean(C²):  dX = (dY − mean(dY)) / (σ + ε) − Y · mean(dY · Y) / σ
void mean_variance_normalization(GradientBuilder& g) {
  constexpr double epsilon = 1e-9;  // ONNX's definition
  const Integers& axes = g.attributes().integers(Attr::axes);
  const TensorId dy = g.output_gradient();
  const TensorId centred = g.minus(g.input(), g.reduce_mean(g.input(), axes, true));
  const TensorId deviation = g.add(Op::Sqrt, {g.reduce_mean(g.square(centred), axes, true)});
  const TensorId divisor = g.plus(deviation, epsilon);
  const TensorId y = g.over(centred, divisor);
  const TensorId across = g.over(g.minus(dy, g.reduce_mean(dy, axes, true)), divisor);
  const TensorId along = g.over(g.reduce_mean(g.times(dy, y), axes, true), nonzero(g, deviation));
  g.accumulate(0, g.minus(across, g.times(y, along)));
}

// Y = X · b⁻ᵝ, b = bias + α/size · Σ X² over neighbours:
// dX = dY · b⁻ᵝ − 2αβ/size · X · Σ dY · X · b⁻ᵝ⁻¹ over those whose neighbour X is
void local_response_normalization(GradientBuilder& g) {
  const Attributes& attributes = g.attributes();
  const std::int64_t size = attributes.integer(Attr::size);
  const double alpha = attributes.real(Attr::alpha) / static_cast<double>(size);
  const double beta = attributes.real(Attr::beta);
  const std::int64_t before = (size - 1) / 2;
  const TensorId x = g.input();
  const TensorId base =
      g.plus(g.times(sum_of_neighbours(g, g.square(x), size, before), alpha), attributes.real(Attr::bias));
  const TensorId direct = g.times(g.output_gradient(), g.add(Op::Pow, {base, g.scalar(-beta, base)}));
  const TensorId passed = sum_of_neighbours(g, g.over(g.times(direct, x), base), size, size - 1 - before);
  g.accumulate(0, g.minus(direct, g.times(g.times(x, passed), 2 * alpha * beta)));
}

// Statistics are kept for the backward part. They are no way for gradients.
bool statistics_have_gradients(GradientBuilder& g) {
  for (std::size_t i = 1; i < g.output_count(); ++i) {
    if (!g.output_gradient(i).valid()) continue;
    g.fail("a gradient arrives at a statistic (mean, variance or deviation) that this normalization gives",
           "compute the statistic with ReduceMean and the like, which have gradients");
    return true;
  }
  return false;
}

// What the operators for gradients of parameters need to know of the scale.
Attributes of_scale(const GradientBuilder& g, Attributes attributes = {}) {
  attributes.set(Attr::to, static_cast<std::int64_t>(g.input_type(1)));
  return attributes;
}

struct ParameterGradients {
  TensorId scale;
  TensorId bias;
};

// Both sums are one pass; a bias that is alone, or of another kind than the scale, is a sum of dY.
ParameterGradients parameters(GradientBuilder& g, Op op, std::vector<TensorId> statistics, Attributes attributes,
                              bool with_scale, bool with_bias) {
  if (!with_scale) return {};
  std::vector<TensorId> inputs = {g.output_gradient(), g.input(0)};
  inputs.insert(inputs.end(), statistics.begin(), statistics.end());
  const auto results = g.add_some(op, std::move(inputs), of_scale(g, std::move(attributes)), {true, with_bias});
  return {results[0], results[1]};
}

// Σ dY over all but the channels.
TensorId sum_by_channel(GradientBuilder& g) {
  std::vector<std::int64_t> axes(g.input_shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + 1);
  return g.reduce_sum(g.output_gradient(), std::move(axes), false);
}

TensorId by_channel(GradientBuilder& g, TensorId values) {
  Shape shape(g.input_shape().size(), 1);
  shape[1] = g.input_shape()[1];
  return g.reshape(values, std::move(shape));
}

// Y = a · (X − mean) + bias with constant a = scale · i, i = 1 / √(variance + ε):
// dX = a · dY, dscale = Σ dY · (X − mean) · i, dmean = −a · dbias, dvariance = −½ · scale · i² · dscale
void frozen_batch(GradientBuilder& g) {
  g.keep(g.input(0));
  if (!g.needs(0) && !g.needs(1) && !g.needs(3) && !g.needs(4)) return g.accumulate(2, sum_by_channel(g));
  const TensorId root = g.add(Op::Sqrt, {g.plus(g.input(4), g.attributes().real(Attr::epsilon))});
  const TensorId inverse = g.add(Op::Reciprocal, {root});
  if (g.needs(0)) {
    const TensorId factor = g.cast(by_channel(g, g.times(g.input(1), inverse)), g.input_type(0));
    g.accumulate(0, g.times(g.output_gradient(), factor));
  }
  const bool of_bias = g.needs(2) || g.needs(3);
  ParameterGradients sums =
      parameters(g, Op::BatchNormalizationParameterGrad, {g.input(3), inverse}, {}, g.needs(1) || g.needs(4), of_bias);
  if (of_bias && !sums.bias.valid()) sums.bias = sum_by_channel(g);
  g.accumulate(1, sums.scale);
  g.accumulate(2, sums.bias);
  if (g.needs(3)) g.accumulate(3, g.negative(g.times(g.times(g.input(1), inverse), sums.bias)));
  if (g.needs(4)) {
    const TensorId factor = g.times(g.times(g.input(1), g.square(inverse)), -0.5);
    g.accumulate(4, g.times(factor, sums.scale));
  }
}

// dX = scale · i · (dY − (dbias + x̂ · dscale) / n), dscale = Σ dY · x̂, dbias = Σ dY, with x̂ = (X − mean) · i
void batch(GradientBuilder& g) {
  if (statistics_have_gradients(g)) return;
  if (g.attributes().integer(Attr::training_mode) == 0) return frozen_batch(g);
  if (!g.needs(0) && !g.needs(1) && !g.needs(2)) return;
  const TensorId mean = g.extra_output(3);
  const TensorId inverse = g.extra_output(4);
  for (TensorId saved : {g.input(0), mean, inverse}) g.keep(saved);
  const ParameterGradients sums = parameters(g, Op::BatchNormalizationParameterGrad, {mean, inverse}, {},
                                             g.needs(0) || g.needs(1), g.needs(0) || g.needs(2));
  g.accumulate(1, sums.scale);
  if (g.needs(2)) g.accumulate(2, sums.bias.valid() ? sums.bias : sum_by_channel(g));
  if (!g.needs(0)) return;
  g.accumulate(0, g.add(Op::BatchNormalizationGrad,
                        {g.output_gradient(), g.input(0), g.input(1), mean, inverse, sums.scale, sums.bias}));
}

// With x̂ = (X − mean) · i, r = dY · scale:  dX = i · (r − mean(r) − x̂ · mean(r · x̂)), dscale = Σ dY · x̂, dbias = Σ dY
void layer(GradientBuilder& g) {
  if (statistics_have_gradients(g)) return;
  const Attributes axis = {{Attr::axis, g.attributes().integer(Attr::axis)}};
  const TensorId mean = g.extra_output(1);
  const TensorId inverse = g.extra_output(2);
  for (TensorId saved : {g.input(0), mean, inverse}) g.keep(saved);
  if (g.needs(0)) {
    g.accumulate(0,
                 g.add(Op::LayerNormalizationGrad, {g.output_gradient(), g.input(0), g.input(1), mean, inverse}, axis));
  }
  Attributes of_parameters = axis;
  of_parameters.set(Attr::shape, g.input_shape(1));
  const bool alike = g.has_input(2) && g.input_shape(2) == g.input_shape(1) && g.input_type(2) == g.input_type(1);
  const ParameterGradients sums = parameters(g, Op::LayerNormalizationParameterGrad, {mean, inverse}, of_parameters,
                                             g.needs(1), g.needs(2) && alike);
  g.accumulate(1, sums.scale);
  if (g.needs(2)) g.accumulate(2, sums.bias.valid() ? sums.bias : g.output_gradient());
}

// With x̂ = X · i, r = dY · scale:  dX = i · (r − x̂ · mean(r · x̂)), dscale = Σ dY · x̂
void root_mean_square(GradientBuilder& g) {
  if (statistics_have_gradients(g)) return;
  const Attributes axis = {{Attr::axis, g.attributes().integer(Attr::axis)}};
  const TensorId inverse = g.extra_output(1);
  if (g.needs(0)) {
    g.accumulate(0, g.add(Op::RMSNormalizationGrad, {g.output_gradient(), g.input(0), g.input(1), inverse}, axis));
  }
  if (g.needs(1)) {
    Attributes of_parameters = of_scale(g, axis);
    of_parameters.set(Attr::shape, g.input_shape(1));
    g.accumulate(1,
                 g.add(Op::RMSNormalizationParameterGrad, {g.output_gradient(), g.input(0), inverse}, of_parameters));
  }
}

// As layer(), for rows that are groups of channels; an instance is a group of one channel.
void groups(GradientBuilder& g) {
  if (statistics_have_gradients(g)) return;
  const bool instances = g.op() == Op::InstanceNormalization;
  const std::int64_t count = instances ? g.input_shape()[1] : g.attributes().integer(Attr::num_groups);
  const Attributes attributes = {{Attr::num_groups, count}};
  const TensorId mean = g.extra_output(1);
  const TensorId inverse = g.extra_output(2);
  for (TensorId saved : {g.input(0), mean, inverse}) g.keep(saved);
  if (g.needs(0)) {
    g.accumulate(
        0, g.add(Op::GroupNormalizationGrad, {g.output_gradient(), g.input(0), g.input(1), mean, inverse}, attributes));
  }
  const ParameterGradients sums =
      parameters(g, Op::GroupNormalizationParameterGrad, {mean, inverse}, attributes, g.needs(1), g.needs(2));
  g.accumulate(1, sums.scale);
  if (g.needs(2)) g.accumulate(2, sums.bias.valid() ? sums.bias : sum_by_channel(g));
}

}  // namespace

GradientRule norm_gradient(Op op) {
  switch (op) {
    case Op::BatchNormalization: return batch;
    case Op::LayerNormalization: return layer;
    case Op::RMSNormalization: return root_mean_square;
    case Op::GroupNormalization:
    case Op::InstanceNormalization: return groups;
    case Op::LpNormalization: return lp_normalization;
    case Op::MeanVarianceNormalization: return mean_variance_normalization;
    case Op::LRN: return local_response_normalization;
    default: return nullptr;
  }
}

}  // namespace monet::training
