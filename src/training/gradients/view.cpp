#include "training/gradient_builder.h"
#include "training/gradients/padding.h"

#include <algorithm>

namespace monet::training {

namespace {

using Integers = std::vector<std::int64_t>;

// dX = dY, summed where X was broadcast
void identity(GradientBuilder& g) { g.accumulate(0, g.output_gradient()); }

void reshape(GradientBuilder& g) { g.accumulate(0, g.reshape(g.output_gradient(), g.input_shape())); }

// dX = dY with the axes put back
void transpose(GradientBuilder& g) {
  const Integers& order = g.attributes().integers(Attr::perm);
  Integers back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  g.accumulate(0, g.transpose(g.output_gradient(), std::move(back)));
}

// `step` - 1 zeros behind every element of one axis.
TensorId spread(GradientBuilder& g, TensorId a, std::size_t axis, std::int64_t step) {
  const auto behind = static_cast<std::ptrdiff_t>(axis) + 1;
  Shape shape = g.shape(a);
  const std::int64_t size = shape[axis];
  shape.insert(shape.begin() + behind, 1);
  Integers ends(shape.size(), 0);
  ends[axis + 1] = step - 1;
  const TensorId apart = with_zeros(g, g.reshape(a, shape), Integers(shape.size(), 0), ends);
  shape.erase(shape.begin() + behind);
  shape[axis] = size * step;
  return g.reshape(apart, std::move(shape));
}

// dX = dY where it was taken from, zeros between and around
void slice(GradientBuilder& g) {
  const Shape from = g.input_shape();
  const Shape to = g.output_shape();
  if (std::ranges::find(to, 0) != to.end()) return;
  const Integers& axes = g.attributes().integers(Attr::axes);
  Integers begins(from.size(), 0);
  Integers ends(from.size(), 0);
  TensorId dx = g.output_gradient();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const std::int64_t count = to[axis];
    std::int64_t first = g.attributes().integers(Attr::starts)[i];
    std::int64_t step = count == 1 ? 1 : g.attributes().integers(Attr::steps)[i];
    if (step < 0) {
      dx = g.slice(dx, axes[i], count - 1, count, -1);
      first += (count - 1) * step;
      step = -step;
    }
    if (step > 1) dx = spread(g, dx, axis, step);
    begins[axis] = first;
    ends[axis] = from[axis] - first - count * step;  // below zero: the last element's zeros reach beyond the end
  }
  g.accumulate(0, with_zeros(g, dx, begins, ends));
}

// dX = the gradients of the parts in a row, zeros for those without
void split(GradientBuilder& g) {
  const std::int64_t axis = g.attributes().integer(Attr::axis);
  Shape shape = g.input_shape();
  std::vector<TensorId> parts;
  for (std::int64_t size : g.attributes().integers(Attr::split)) {
    const std::size_t i = parts.size();
    shape[static_cast<std::size_t>(axis)] = size;
    const bool arrives = i < g.output_count() && g.output_gradient(i).valid();
    parts.push_back(arrives ? g.output_gradient(i) : g.fill(0, shape, g.input_type()));
  }
  g.accumulate(0, g.concat(std::move(parts), axis));
}

// dXᵢ = its part of dY
void concat(GradientBuilder& g) {
  const std::int64_t axis = g.attributes().integer(Attr::axis);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < g.input_count(); ++i) {
    const std::int64_t size = g.input_shape(i)[static_cast<std::size_t>(axis)];
    if (g.needs(i)) g.accumulate(i, g.slice(g.output_gradient(), axis, start, size));
    start += size;
  }
}

void depth_to_space(GradientBuilder& g) {
  const std::int64_t block = g.attributes().integer(Attr::blocksize);
  if (g.attributes().text(Attr::mode) == "DCR") {
    return g.accumulate(0, g.add(Op::SpaceToDepth, {g.output_gradient()}, {{Attr::blocksize, block}}));
  }
  const Shape to = g.output_shape();
  const TensorId blocks = g.reshape(g.output_gradient(), {to[0], to[1], to[2] / block, block, to[3] / block, block});
  g.accumulate(0, g.reshape(g.transpose(blocks, {0, 1, 3, 5, 2, 4}), g.input_shape()));
}

void space_to_depth(GradientBuilder& g) {
  g.accumulate(0,
               g.add(Op::DepthToSpace, {g.output_gradient()},
                     {{Attr::blocksize, g.attributes().integer(Attr::blocksize)}, {Attr::mode, std::string("DCR")}}));
}

}  // namespace

GradientRule view_gradient(Op op) {
  switch (op) {
    case Op::Identity:
    case Op::Expand: return identity;
    case Op::Reshape: return reshape;
    case Op::Transpose: return transpose;
    case Op::Slice: return slice;
    case Op::Split: return split;
    case Op::Concat: return concat;
    case Op::DepthToSpace: return depth_to_space;
    case Op::SpaceToDepth: return space_to_depth;
    default: return nullptr;
  }
}

}  // namespace monet::training
