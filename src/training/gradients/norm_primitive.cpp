#include "training/gradients/norm_primitive.h"

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

}  // namespace

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

}  // namespace monet::training
