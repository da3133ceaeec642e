#include "training/gradient_builder.h"
#include "training/gradients/gather.h"
#include "training/gradients/grid_sample.h"
#include "training/gradients/padding.h"

#include <numeric>

namespace monet::training {

namespace {

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
