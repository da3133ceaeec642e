#include "graph/expand/resize.h"

#include "graph/resample.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

// Positions and weights are written out as constants; an axis for which they would be more has no use.
constexpr std::int64_t max_taps = std::int64_t{1} << 20;

// Weighted elements along one axis and where they go: tap by tap.
struct Weights {
  std::int64_t taps = 1;
  std::vector<std::int64_t> positions;
  std::vector<double> values;
};

Weights weights_of(const std::vector<Taps>& taps) {
  Weights weights;
  for (const Taps& each : taps) weights.taps = std::max(weights.taps, static_cast<std::int64_t>(each.size()));
  for (std::size_t k = 0; k < static_cast<std::size_t>(weights.taps); ++k) {
    for (const Taps& each : taps) {
      const Tap tap = k < each.size() ? each[k] : Tap{0, 0.0};
      weights.positions.push_back(tap.position);
      weights.values.push_back(tap.weight);
    }
  }
  return weights;
}

// Along one axis: every element of `dy` goes back, weighted, to the elements that made it.
TensorId along_axis(Expansion& e, TensorId dy, std::size_t axis, std::int64_t from) {
  Shape shape = e.shape(dy);
  const std::int64_t to = shape[axis];
  const std::int64_t outer = element_count(std::span(shape).first(axis));
  const std::int64_t inner = element_count(std::span(shape).subspan(axis + 1));
  Weights weights = weights_of(resize_taps(e.attributes(), axis, from, to));
  const std::int64_t count = weights.taps * to;
  TensorId parts = dy;
  if (!std::ranges::all_of(weights.values, [](double weight) { return weight == 1; })) {
    const TensorId factors = e.builder().constant(
        e.node().name + ".weights", Constant::reals(e.type(dy), {weights.taps, to, 1}, std::move(weights.values)));
    parts = e.times(e.reshape(dy, {outer, 1, to, inner}), factors);
  }
  const TensorId rows =
      e.add(Op::GatherGrad, {e.reshape(parts, {outer, count, inner}), e.integers(std::move(weights.positions))},
            {{Attr::axis, std::int64_t{1}}, {Attr::shape, Shape{outer, from, inner}}});
  shape[axis] = from;
  return e.reshape(rows, std::move(shape));
}

}  // namespace

// Interpolation is a linear map along each axis; the gradient is its transpose along each axis.
void resize_grad(Expansion& e) {
  const Shape& from = e.attributes().integers(Attr::shape);
  const Shape to = e.input_shape(0);
  TensorId dx = e.input(0);
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (!resamples(e.attributes(), axis, from[axis], to[axis]) || from[axis] == 0) continue;
    if (to[axis] > max_taps) {
      e.builder().fail({.message = fmt::format("an interpolated axis of {} elements is too long to be written out as "
                                               "simpler operators",
                                               to[axis]),
                        .place = fmt::format("node '{}'", e.node().name),
                        .advice = "choose a smaller size"});
      return;
    }
    dx = along_axis(e, dx, axis, from[axis]);
  }
  e.output(0, dx);
}

}  // namespace monet
