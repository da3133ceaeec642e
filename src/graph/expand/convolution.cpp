#include "graph/expand.h"

namespace monet {

namespace {

using Integers = std::vector<std::int64_t>;

// The axes as they are, but for the first ones.
Integers with_first(Integers first, std::size_t rank) {
  while (first.size() < rank) first.push_back(static_cast<std::int64_t>(first.size()));
  return first;
}

// [B, C, …] as [C / group, group · B, …]: the batch in the place of the channels, group by group.
TensorId batch_as_channels(Expansion& e, TensorId x, std::int64_t group) {
  Shape shape = e.shape(x);
  if (group == 1) return e.transpose(x, with_first({1, 0}, shape.size()));
  const Shape positions(shape.begin() + 2, shape.end());
  const std::int64_t batch = shape[0];
  const std::int64_t channels = shape[1] / group;
  shape = {batch, group, channels};
  shape.insert(shape.end(), positions.begin(), positions.end());
  const TensorId moved = e.transpose(e.reshape(x, shape), with_first({2, 1, 0}, shape.size()));
  shape = {channels, group * batch};
  shape.insert(shape.end(), positions.begin(), positions.end());
  return e.reshape(moved, shape);
}

// dW[k,c,f] = Σ X[b, c, o·stride + f·dilation − pad] · dY[b,k,o]: a convolution of X with dY as its kernel, where b is
// the channel that is contracted, f the position, and stride and dilation have changed places.
void weight_grad(Expansion& e) {
  const Attributes& attributes = e.attributes();
  const std::int64_t group = attributes.integer(Attr::group);
  const Shape& weights = attributes.integers(Attr::shape);
  const TensorId kernel = e.transpose(e.input(1), with_first({1, 0}, weights.size()));
  const TensorId product = e.add(Op::Conv, {batch_as_channels(e, e.input(0), group), kernel},
                                 {{Attr::strides, attributes.integers(Attr::dilations)},
                                  {Attr::dilations, attributes.integers(Attr::strides)},
                                  {Attr::pads, attributes.integers(Attr::pads)},
                                  {Attr::group, group}});
  TensorId gradient = e.transpose(product, with_first({1, 0}, weights.size()));
  // What the window does not reach in X looks like further filter elements.
  for (std::size_t axis = 2; axis < weights.size() && !e.builder().failed(); ++axis) {
    if (e.shape(gradient)[axis] == weights[axis]) continue;
    gradient = e.slice(gradient, static_cast<std::int64_t>(axis), 0, weights[axis]);
  }
  e.output(0, gradient);
}

}  // namespace

ExpansionRule convolution_expansion(Op op) {
  switch (op) {
    case Op::ConvWeightGrad: return weight_grad;
    default: return nullptr;
  }
}

}  // namespace monet
