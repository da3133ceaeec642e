// Shazeer and Stern 2018, in the form of torch.optim.Adafactor with d = 1.
#include "graph/expand/optimizer.h"

#include <numeric>

namespace monet::optimizer {

namespace {

// old + weight · (now − old), with weight = t^beta2_decay
TensorId lerp(Expansion& e, TensorId old, TensorId now) {
  return e.plus(old, e.times(e.minus(now, old), scalar(e, 2)));
}

TensorId at_least(Expansion& e, TensorId a, double least) { return e.add(Op::Max, {a, e.scalar(least, a)}); }

TensorId root_mean_square(Expansion& e, TensorId a) {
  std::vector<std::int64_t> axes(e.shape(a).size());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  return e.add(Op::Sqrt, {e.reduce_mean(e.square(a), std::move(axes), false)});
}

// u = g / √max(estimate, ε²);  P' = P (1 − lr · decay) − u · max(least, rms P) · min(lr, 1/√t) / max(1, rms u)
void apply(Expansion& e, TensorId g, TensorId estimate) {
  const double epsilon = e.attributes().real(Attr::epsilon);
  const TensorId update = e.over(g, e.add(Op::Sqrt, {at_least(e, estimate, epsilon * epsilon)}));
  const TensorId size = at_least(e, root_mean_square(e, e.input(0)), e.attributes().real(Attr::min));
  const TensorId rate = e.over(e.times(size, scalar(e, 1)), at_least(e, root_mean_square(e, update), 1));
  e.output(0, e.minus(decayed_parameter(e), e.times(update, rate)));
}

}  // namespace

// estimate = row · column / max(mean row, ε), row and column being running means of g²
void adafactor(Expansion& e) {
  const TensorId g = gradient(e);
  const TensorId squares = e.square(g);
  const auto rank = static_cast<std::int64_t>(e.input_shape(0).size());
  const TensorId row = lerp(e, e.input(2), e.reduce_mean(squares, {rank - 1}, true));
  const TensorId column = lerp(e, e.input(3), e.reduce_mean(squares, {rank - 2}, true));
  const TensorId mean = at_least(e, e.reduce_mean(row, {rank - 2}, true), e.attributes().real(Attr::epsilon));
  e.output(1, row);
  e.output(2, column);
  apply(e, g, e.over(e.times(row, column), mean));
}

void adafactor_vector(Expansion& e) {
  const TensorId g = gradient(e);
  const TensorId v = lerp(e, e.input(2), e.square(g));
  e.output(1, v);
  apply(e, g, v);
}

}  // namespace monet::optimizer
