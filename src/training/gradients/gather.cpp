#include "training/gradients/gather.h"

#include <fmt/format.h>

namespace monet::training {

namespace {

const std::string add = "add";

TensorId zeros_like_input(GradientBuilder& g, std::size_t input) {
  return g.fill(0, g.input_shape(input), g.input_type(input));
}

// Tuples that name a place along every axis from the first on: before those given stand the batch's own positions.
TensorId whole_tuples(GradientBuilder& g, std::size_t batch_axes) {
  const TensorId tuples = g.input(1);
  if (batch_axes == 0) return tuples;
  const auto type = static_cast<std::int64_t>(g.input_type(1));
  Shape column = g.input_shape(1);
  column.back() = 1;
  std::vector<TensorId> parts;
  for (std::size_t axis = 0; axis < batch_axes; ++axis) {
    const TensorId positions = g.add(
        Op::Range, {}, {{Attr::shape, Shape{column[axis]}}, {Attr::start, 0.0}, {Attr::delta, 1.0}, {Attr::to, type}});
    Shape along(column.size(), 1);
    along[axis] = column[axis];
    parts.push_back(g.expand(g.reshape(positions, std::move(along)), column));
  }
  parts.push_back(tuples);
  return g.concat(std::move(parts), static_cast<std::int64_t>(column.size()) - 1);
}

// Whether updates are added to the data; else they replace elements of it.
bool only_added(GradientBuilder& g) {
  const std::string& reduction = g.attributes().text(Attr::reduction);
  if (reduction != "none" && reduction != add) {
    g.fail(fmt::format("the reduction '{}' cannot be differentiated", reduction), "use 'none' or 'add'");
  }
  return reduction == add;
}

}  // namespace

// dX[indices] += dY
void gather(GradientBuilder& g) {
  g.accumulate(0, g.add(Op::GatherGrad, {g.output_gradient(), g.input(1)},
                        {{Attr::axis, g.attributes().integer(Attr::axis)}, {Attr::shape, g.input_shape(0)}}));
}

void gather_elements(GradientBuilder& g) {
  g.keep(g.input(0));
  g.accumulate(0, g.add(Op::ScatterElements, {zeros_like_input(g, 0), g.input(1), g.output_gradient()},
                        {{Attr::axis, g.attributes().integer(Attr::axis)}, {Attr::reduction, add}}));
}

void gather_nd(GradientBuilder& g) {
  const TensorId tuples = whole_tuples(g, static_cast<std::size_t>(g.attributes().integer(Attr::batch_dims)));
  g.accumulate(0,
               g.add(Op::ScatterND, {zeros_like_input(g, 0), tuples, g.output_gradient()}, {{Attr::reduction, add}}));
}

// ddata = dY, but 0 where an update replaced an element; dupdates = dY[indices]
void scatter_elements(GradientBuilder& g) {
  const Attributes axis = {{Attr::axis, g.attributes().integer(Attr::axis)}};
  const TensorId dy = g.output_gradient();
  if (only_added(g)) {
    g.accumulate(0, dy);
  } else if (g.needs(0)) {
    g.accumulate(0, g.add(Op::ScatterElements, {dy, g.input(1), zeros_like_input(g, 2)}, g.attributes()));
  }
  if (g.needs(2)) g.accumulate(2, g.add(Op::GatherElements, {dy, g.input(1)}, axis));
}

void scatter_nd(GradientBuilder& g) {
  const TensorId dy = g.output_gradient();
  if (only_added(g)) {
    g.accumulate(0, dy);
  } else if (g.needs(0)) {
    g.accumulate(0, g.add(Op::ScatterND, {dy, g.input(1), zeros_like_input(g, 2)}, g.attributes()));
  }
  if (g.needs(2)) g.accumulate(2, g.add(Op::GatherND, {dy, g.input(1)}, {{Attr::batch_dims, std::int64_t{0}}}));
}

}  // namespace monet::training
