#include "graph/expand.h"
#include "graph/resample.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

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

using Integers = std::vector<std::int64_t>;

// Every gradient is added where its maximum was; indices count through the whole tensor.
void max_pool_grad(Expansion& e) {
  const Shape& shape = e.attributes().integers(Attr::shape);
  const Shape values = {element_count(e.input_shape(0))};
  const TensorId zeros = e.fill(0, {element_count(shape)}, e.type(e.input(0)));
  const TensorId sums =
      e.add(Op::ScatterElements, {zeros, e.reshape(e.input(1), values), e.reshape(e.input(0), values)},
            {{Attr::axis, std::int64_t{0}}, {Attr::reduction, std::string("add")}});
  e.output(0, e.reshape(sums, shape));
}

// Rows of dY are added to the rows of a table of zeros that the indices name. Rows are those of the first axis, so
// others change places with it before and after.
void gather_grad(Expansion& e) {
  const Shape& table = e.attributes().integers(Attr::shape);
  const std::int64_t axis = e.attributes().integer(Attr::axis);
  Shape index_shape = e.input_shape(1);
  const auto index_rank = static_cast<std::int64_t>(index_shape.size());
  index_shape.push_back(1);
  const TensorId indices = e.reshape(e.cast(e.input(1), ElementType::int64), std::move(index_shape));

  Integers rows_first(e.input_shape(0).size());
  std::iota(rows_first.begin(), rows_first.end(), 0);
  std::rotate(rows_first.begin(), rows_first.begin() + axis, rows_first.begin() + axis + index_rank);
  Shape turned = table;
  std::rotate(turned.begin(), turned.begin() + axis, turned.begin() + axis + 1);
  Integers back(table.size());
  std::iota(back.begin(), back.end(), 0);
  std::rotate(back.begin(), back.begin() + 1, back.begin() + axis + 1);

  const TensorId rows = axis == 0 ? e.input(0) : e.transpose(e.input(0), std::move(rows_first));
  const TensorId zeros = e.fill(0, std::move(turned), e.type(rows));
  const TensorId sum = e.add(Op::ScatterND, {zeros, indices, rows}, {{Attr::reduction, std::string("add")}});
  e.output(0, axis == 0 ? sum : e.transpose(sum, std::move(back)));
}

}  // namespace

ExpansionRule movement_expansion(Op op) {
  switch (op) {
    case Op::MaxPoolGrad: return max_pool_grad;
    case Op::GatherGrad: return gather_grad;
    case Op::ResizeGrad: return resize_grad;
    default: return nullptr;
  }
}

}  // namespace monet
