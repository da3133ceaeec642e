#include "training/gradient_builder.h"
#include "training/gradients/grid_sample.h"
#include "training/gradients/padding.h"

#include <numeric>

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

using Integers = std::vector<std::int64_t>;

// dX = the sum of the copies
void tile(GradientBuilder& g) {
  const Integers& repeats = g.attributes().integers(Attr::repeats);
  const Shape from = g.input_shape();
  Shape apart;  // each repeated axis as copies and elements
  Integers copies;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (repeats[i] != 1) {
      copies.push_back(static_cast<std::int64_t>(apart.size()));
      apart.push_back(repeats[i]);
    }
    apart.push_back(from[i]);
  }
  g.accumulate(0, g.reduce_sum(g.reshape(g.output_gradient(), std::move(apart)), std::move(copies), false));
}

// dX = the same triangle of dY
void trilu(GradientBuilder& g) { g.accumulate(0, g.add(Op::Trilu, {g.output_gradient()}, g.attributes())); }

void resize(GradientBuilder& g) {
  Attributes attributes = g.attributes();
  attributes.set(Attr::shape, g.input_shape());
  g.accumulate(0, g.add(Op::ResizeGrad, {g.output_gradient()}, std::move(attributes)));
}

// Y = off + (on − off) · hot:  don = Σ dY · hot, doff = Σ dY − don
void one_hot(GradientBuilder& g) {
  if (!g.needs(1)) return;
  const TensorId dy = g.output_gradient();
  const TensorId pair = g.builder().constant("off_and_on", Constant::reals(g.input_type(1), {2}, {0, 1}));
  const TensorId hot = g.add(Op::OneHot, {g.input(0), pair}, g.attributes());
  Integers axes(g.output_shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  const TensorId on = g.reduce_sum(g.times(dy, hot), axes, false);
  const TensorId off = g.minus(g.reduce_sum(dy, axes, false), on);
  g.accumulate(1, g.concat({g.reshape(off, {1}), g.reshape(on, {1})}, 0));
}

// dX = dY reversed again
void reverse_sequence(GradientBuilder& g) {
  g.accumulate(0, g.add(Op::ReverseSequence, {g.output_gradient(), g.input(1)}, g.attributes()));
}

// dX = dY at the indices, which count through all of Y
void max_unpool(GradientBuilder& g) {
  const TensorId flat = g.reshape(g.output_gradient(), {element_count(g.output_shape())});
  g.accumulate(0, g.add(Op::Gather, {flat, g.input(1)}, {{Attr::axis, std::int64_t{0}}}));
}

}  // namespace

GradientRule movement_gradient(Op op) {
  switch (op) {
    case Op::Pad: return pad;
    case Op::Tile: return tile;
    case Op::Gather: return gather;
    case Op::GatherElements: return gather_elements;
    case Op::GatherND: return gather_nd;
    case Op::ScatterElements: return scatter_elements;
    case Op::ScatterND: return scatter_nd;
    case Op::Trilu: return trilu;
    case Op::Resize: return resize;
    case Op::GridSample: return grid_sample;
    case Op::OneHot: return one_hot;
    case Op::ReverseSequence: return reverse_sequence;
    case Op::MaxUnpool: return max_unpool;
    default: return nullptr;
  }
}

}  // namespace monet::training
