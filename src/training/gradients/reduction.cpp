#include "training/gradient_builder.h"

#include <algorithm>

namespace monet::training {

namespace {

using Axes = std::vector<std::int64_t>;

const Axes& axes_of(const GradientBuilder& g) { return g.attributes().integers(Attr::axes); }

// A tensor of the output's shape with the reduced axes put back, so that it broadcasts over the input.
TensorId over_rows(GradientBuilder& g, TensorId reduced) {
  Shape kept = g.input_shape();
  for (std::int64_t axis : axes_of(g)) kept[static_cast<std::size_t>(axis)] = 1;
  return g.reshape(reduced, std::move(kept));
}

TensorId row_gradient(GradientBuilder& g) { return over_rows(g, g.output_gradient()); }

// Y = Σ X  gives  dX = dY everywhere
void reduce_sum(GradientBuilder& g) { g.accumulate(0, g.expand(row_gradient(g), g.input_shape())); }

// Y = Σ X / n  gives  dX = dY / n everywhere
void reduce_mean(GradientBuilder& g) {
  double count = 1;
  for (std::int64_t axis : axes_of(g)) count *= static_cast<double>(g.input_shape()[static_cast<std::size_t>(axis)]);
  g.accumulate(0, g.expand(g.over(row_gradient(g), std::max(count, 1.0)), g.input_shape()));
}

// Y = Σ X²  gives  dX = dY · 2X
void sum_of_squares(GradientBuilder& g) { g.accumulate(0, g.times(row_gradient(g), g.times(g.input(), 2))); }

// Y = Σ |X|  gives  dX = dY · sign(X)
void sum_of_sizes(GradientBuilder& g) {
  g.keep(g.output());
  g.accumulate(0, g.times(row_gradient(g), g.add(Op::Sign, {g.input()})));
}

// Y = √Σ X²  gives  dX = dY · X/Y, and 0 where Y = 0
void length(GradientBuilder& g) {
  const TensorId y = over_rows(g, g.output());
  const TensorId zero = g.scalar(0, y);
  const TensorId direction = g.where(g.add(Op::Equal, {y, zero}), zero, g.over(g.input(), y));
  g.accumulate(0, g.times(row_gradient(g), direction));
}

// Y = log Σ X  gives  dX = dY / exp(Y) everywhere
void log_sum(GradientBuilder& g) {
  const TensorId slope = g.over(g.output_gradient(), g.add(Op::Exp, {g.output()}));
  g.accumulate(0, g.expand(over_rows(g, slope), g.input_shape()));
}

// Y = log Σ exp(X)  gives  dX = dY · exp(X − Y)
void log_sum_exp(GradientBuilder& g) {
  const TensorId share = g.add(Op::Exp, {g.minus(g.input(), over_rows(g, g.output()))});
  g.accumulate(0, g.times(row_gradient(g), share));
}

// Y = max X, or min  gives  dX = dY, shared evenly among all that are equal to Y
void reduce_extreme(GradientBuilder& g) {
  const TensorId chosen = g.add(Op::Equal, {g.input(), over_rows(g, g.output())});
  const TensorId dy = row_gradient(g);
  const TensorId count = g.reduce_sum(g.cast(chosen, g.type(dy)), axes_of(g), true);
  g.accumulate(0, g.where(chosen, g.over(dy, count), g.scalar(0, dy)));
}

// Y = Π X  gives  dX = dY · the product of the others. That is the product of all that are not 0, divided by X unless X
// itself is 0; and 0 where one of the others is.
void product(GradientBuilder& g) {
  const TensorId x = g.input();
  const TensorId zero = g.scalar(0, x);
  const TensorId is_zero = g.add(Op::Equal, {x, zero});
  const TensorId zeros_here = g.cast(is_zero, g.type(x));
  const TensorId zeros = g.reduce_sum(zeros_here, axes_of(g), true);
  const TensorId nonzero = g.where(is_zero, g.scalar(1, x), x);
  const TensorId all = g.add(Op::ReduceProd, {nonzero}, {{Attr::axes, axes_of(g)}, {Attr::keepdims, std::int64_t{1}}});
  const TensorId others_nonzero = g.add(Op::Equal, {zeros, zeros_here});
  g.keep(g.output());
  g.accumulate(0, g.where(others_nonzero, g.times(row_gradient(g), g.over(all, nonzero)), zero));
}

// Each element is in the sums after it: dX is the running sum of dY from the other end.
void cumulative_sum(GradientBuilder& g) {
  Attributes attributes = g.attributes();
  attributes.set(Attr::reverse, std::int64_t{attributes.integer(Attr::reverse) == 0});
  g.accumulate(0, g.add(Op::CumSum, {g.output_gradient()}, std::move(attributes)));
}

// dX = dY at the elements that were picked
void top_k(GradientBuilder& g) {
  const TensorId dy = g.output_gradient();
  if (!dy.valid()) return;
  const TensorId nothing = g.fill(0, g.input_shape(), g.type(dy));
  g.accumulate(0, g.add(Op::ScatterElements, {nothing, g.extra_output(1), dy},
                        {{Attr::axis, g.attributes().integer(Attr::axis)}, {Attr::reduction, std::string("none")}}));
}

}  // namespace

GradientRule reduction_gradient(Op op) {
  switch (op) {
    case Op::ReduceL1: return sum_of_sizes;
    case Op::ReduceL2: return length;
    case Op::ReduceLogSum: return log_sum;
    case Op::ReduceLogSumExp: return log_sum_exp;
    case Op::ReduceMax:
    case Op::ReduceMin: return reduce_extreme;
    case Op::ReduceMean: return reduce_mean;
    case Op::ReduceProd: return product;
    case Op::ReduceSum: return reduce_sum;
    case Op::ReduceSumSquare: return sum_of_squares;
    case Op::CumSum: return cumulative_sum;
    case Op::TopK: return top_k;
    case Op::ArgMax:
    case Op::ArgMin:
    case Op::Hardmax: return zero_gradient;
    default: return nullptr;
  }
}

}  // namespace monet::training
