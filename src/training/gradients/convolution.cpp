#include "training/gradient_builder.h"

namespace monet::training {

namespace {

using Integers = std::vector<std::int64_t>;

// How a window slides: the attributes that Conv, ConvTranspose and ConvWeightGrad share.
Attributes window_of(const GradientBuilder& g) {
  const Attributes& forward = g.attributes();
  return {{Attr::strides, forward.integers(Attr::strides)},
          {Attr::dilations, forward.integers(Attr::dilations)},
          {Attr::pads, forward.integers(Attr::pads)},
          {Attr::group, forward.integer(Attr::group)}};
}

// db = Σ dY over all axes but the channels'
TensorId bias_gradient(GradientBuilder& g) {
  Integers axes = {0};
  for (std::size_t axis = 2; axis < g.output_shape().size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  return g.reduce_sum(g.output_gradient(), std::move(axes), false);
}

// Where filter element f meets `wide` (padded) at place p of the window: f · dilation + p · stride.
TensorId window_positions(GradientBuilder& g, std::size_t spatial_axis, std::int64_t kernel, std::int64_t places) {
  const std::int64_t dilation = g.attributes().integers(Attr::dilations)[spatial_axis];
  const std::int64_t stride = g.attributes().integers(Attr::strides)[spatial_axis];
  Integers positions;
  for (std::int64_t f = 0; f < kernel; ++f) {
    for (std::int64_t p = 0; p < places; ++p) positions.push_back(f * dilation + p * stride);
  }
  return g.builder().constant("window_positions",
                              Constant::integers(ElementType::int64, {kernel, places}, std::move(positions)));
}

// [B, C, wide…] as [B, C, filter…, places…]: what lies under each filter element at each place of the window.
TensorId columns_of(GradientBuilder& g, TensorId wide, const Shape& weights, const Shape& narrow) {
  const std::size_t spatial = weights.size() - 2;
  const Integers& around = g.attributes().integers(Attr::pads);
  Integers pads(2 * weights.size(), 0);
  for (std::size_t i = 0; i < spatial; ++i) {
    pads[2 + i] = around[i];
    pads[weights.size() + 2 + i] = around[spatial + i];
  }
  TensorId columns = g.add(Op::Pad, {wide}, {{Attr::pads, std::move(pads)}, {Attr::mode, std::string("constant")}});
  Integers perm = {0, 1};
  for (std::size_t i = 0; i < spatial; ++i) {
    // The axes before it have become two each.
    const auto axis = static_cast<std::int64_t>(2 + 2 * i);
    const TensorId positions = window_positions(g, i, weights[2 + i], narrow[2 + i]);
    columns = g.add(Op::Gather, {columns, positions}, {{Attr::axis, axis}});
    perm.push_back(axis);
  }
  for (std::size_t i = 0; i < spatial; ++i) perm.push_back(static_cast<std::int64_t>(3 + 2 * i));
  return g.transpose(columns, std::move(perm));
}

// dW = Σ over the batch of dY · columnsᵀ, in each group
TensorId im2col_weight_gradient(GradientBuilder& g, TensorId wide, TensorId narrow) {
  const Shape weights = g.input_shape(1);
  const Shape small = g.shape(narrow);
  const std::int64_t group = g.attributes().integer(Attr::group);
  const std::int64_t places = element_count(std::span(small).subspan(2));
  const std::int64_t column = element_count(std::span(weights).subspan(1));
  Shape rows = {small[0], weights[0], places};
  Shape columns = {small[0], column, places};
  if (group != 1) {
    rows = {small[0], group, weights[0] / group, places};
    columns = {small[0], group, column, places};
  }
  const TensorId unfolded = g.reshape(columns_of(g, wide, weights, small), std::move(columns));
  const TensorId products = g.matmul(g.reshape(narrow, std::move(rows)), unfolded, false, true);
  return g.reshape(g.reduce_sum(products, {0}, false), weights);
}

// `narrow` has an element for each place of the window that slides over `wide`.
TensorId weight_gradient(GradientBuilder& g, TensorId wide, TensorId narrow) {
  if (g.conv_gradient() == ConvGradient::im2col) return im2col_weight_gradient(g, wide, narrow);
  Attributes attributes = window_of(g);
  attributes.set(Attr::shape, g.input_shape(1));
  return g.add(Op::ConvWeightGrad, {wide, narrow}, std::move(attributes));
}

// Elements at the end of each axis of X that no window reaches.
Integers unreached(const GradientBuilder& g) {
  const Attributes& forward = g.attributes();
  const Shape x = g.input_shape(0);
  const Shape w = g.input_shape(1);
  const Shape y = g.output_shape();
  const std::size_t spatial = x.size() - 2;
  Integers rest;
  for (std::size_t i = 0; i < spatial; ++i) {
    const Integers& pads = forward.integers(Attr::pads);
    const std::int64_t reach = (w[2 + i] - 1) * forward.integers(Attr::dilations)[i] + 1;
    const std::int64_t last = (y[2 + i] - 1) * forward.integers(Attr::strides)[i];
    rest.push_back(x[2 + i] + pads[i] + pads[spatial + i] - reach - last);
  }
  return rest;
}

// Y = W ∗ X + b  gives  dX = Wᵀ ∗ dY
void conv(GradientBuilder& g) {
  if (g.needs(0)) {
    Attributes attributes = window_of(g);
    attributes.set(Attr::output_padding, unreached(g));
    g.accumulate(0, g.add(Op::ConvTranspose, {g.output_gradient(), g.input(1)}, std::move(attributes)));
  }
  if (g.needs(1)) g.accumulate(1, weight_gradient(g, g.input(0), g.output_gradient()));
  if (g.needs(2)) g.accumulate(2, bias_gradient(g));
}

// Y = Wᵀ ∗ X + b  gives  dX = W ∗ dY. Where the output padding is a stride or more, the window has further places,
// which belong to no element of X.
void conv_transpose(GradientBuilder& g) {
  if (g.needs(0)) {
    TensorId dx = g.add(Op::Conv, {g.output_gradient(), g.input(1)}, window_of(g));
    const Shape x = g.input_shape(0);
    for (std::size_t axis = 2; axis < x.size() && !g.builder().failed(); ++axis) {
      if (g.shape(dx)[axis] != x[axis]) dx = g.slice(dx, static_cast<std::int64_t>(axis), 0, x[axis]);
    }
    g.accumulate(0, dx);
  }
  if (g.needs(1)) g.accumulate(1, weight_gradient(g, g.output_gradient(), g.input(0)));
  if (g.needs(2)) g.accumulate(2, bias_gradient(g));
}

}  // namespace

GradientRule convolution_gradient(Op op) {
  switch (op) {
    case Op::Conv: return conv;
    case Op::ConvTranspose: return conv_transpose;
    default: return nullptr;
  }
}

}  // namespace monet::training
