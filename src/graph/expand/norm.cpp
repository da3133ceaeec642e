#include "graph/expand.h"
#include "graph/expand/norm_gradient.h"

namespace monet {

namespace {

using Integers = std::vector<std::int64_t>;

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
