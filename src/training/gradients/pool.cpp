#include "graph/expand/window_counts.h"
#include "training/gradient_builder.h"

#include <algorithm>

namespace monet::training {

namespace {

// dX = Σ over the windows of dY / count. PyTorch keeps the input for its shape.
void average_pool(GradientBuilder& g) {
  Attributes attributes = g.attributes();
  attributes.set(Attr::shape, g.input_shape());
  g.keep(g.input());
  g.accumulate(0, g.add(Op::AveragePoolGrad, {g.output_gradient()}, std::move(attributes)));
}

// dX = Σ over the windows of dY where the maximum was. PyTorch keeps the input for its shape.
void max_pool(GradientBuilder& g) {
  const bool indices_are_used = g.output_count() > 1 && g.output(1).valid();
  if (!indices_are_used) g.set_forward_attribute(Attr::storage_order, std::int64_t{0});
  const TensorId indices = g.extra_output(1);
  g.keep(g.input());
  // Indices whose first spatial axis is fastest count through the tensor with its spatial axes reversed.
  const bool reversed = g.attributes().integer(Attr::storage_order) != 0;
  Shape shape = g.input_shape();
  if (reversed) std::reverse(shape.begin() + 2, shape.end());
  TensorId dx = g.add(Op::MaxPoolGrad, {g.output_gradient(), indices}, {{Attr::shape, shape}});
  if (reversed) {
    std::vector<std::int64_t> perm = {0, 1};
    for (std::size_t axis = shape.size(); axis-- > 2;) perm.push_back(static_cast<std::int64_t>(axis));
    dx = g.transpose(dx, std::move(perm));
  }
  g.accumulate(0, dx);
}

// Y = (Σ |X|^p)^(1/p)  gives  dX = sign(X) · |X|^(p−1) · Σ over the windows of dY · Y^(1−p); 0 where Y is 0.
void lp_pool(GradientBuilder& g) {
  const std::int64_t p = g.attributes().integer(Attr::p);
  const TensorId x = g.input();
  TensorId share = g.output_gradient();
  if (p != 1) {
    const TensorId y = g.output();
    const TensorId zero = g.scalar(0, y);
    const TensorId power = p == 2 ? y : g.add(Op::Pow, {y, g.scalar(static_cast<double>(p - 1), y)});
    share = g.where(g.add(Op::Greater, {y, zero}), g.over(share, power), zero);
  }
  const Attributes attributes = {{Attr::kernel_shape, g.attributes().integers(Attr::kernel_shape)},
                                 {Attr::strides, g.attributes().integers(Attr::strides)},
                                 {Attr::dilations, g.attributes().integers(Attr::dilations)},
                                 {Attr::pads, g.attributes().integers(Attr::pads)},
                                 {Attr::count_include_pad, std::int64_t{1}},
                                 {Attr::shape, g.input_shape()}};
  const TensorId counts = window_counts(g, attributes, g.input_shape(), g.output_shape(), true, share);
  const TensorId sum = g.add(Op::AveragePoolGrad, {g.times(share, counts)}, attributes);
  if (p == 2) return g.accumulate(0, g.times(sum, x));
  const TensorId signed_sum = g.times(sum, g.add(Op::Sign, {x}));
  if (p == 1) return g.accumulate(0, signed_sum);
  const TensorId magnitude = g.add(Op::Pow, {g.add(Op::Abs, {x}), g.scalar(static_cast<double>(p - 1), x)});
  g.accumulate(0, g.times(signed_sum, magnitude));
}

}  // namespace

GradientRule pool_gradient(Op op) {
  switch (op) {
    case Op::AveragePool: return average_pool;
    case Op::MaxPool: return max_pool;
    case Op::LpPool: return lp_pool;
    default: return nullptr;
  }
}

}  // namespace monet::training
