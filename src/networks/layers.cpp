#include "networks/layers.h"

#include <utility>
#include <vector>

namespace monet::networks {

namespace {

// The defaults of torch.nn.BatchNorm2d; ONNX's momentum is the share of the old value, PyTorch's 0.1 that of the new.
constexpr double batch_norm_epsilon = 1e-5;
constexpr double batch_norm_momentum = 0.9;

using Sizes = std::vector<std::int64_t>;

}  // namespace

std::int64_t axis_size(const GraphBuilder& builder, TensorId x, std::size_t axis) {
  const Shape& shape = builder.shape(x);
  return axis < shape.size() ? shape[axis] : 1;
}

TensorId convolution(GraphBuilder& builder, const std::string& name, TensorId x, const Convolution& sizes) {
  const std::int64_t in_group = axis_size(builder, x, 1) / sizes.groups;
  std::vector<TensorId> inputs{
      x, builder.parameter(name + ".weight", {sizes.channels, in_group, sizes.kernel, sizes.kernel})};
  if (sizes.bias) inputs.push_back(builder.parameter(name + ".bias", {sizes.channels}));
  return builder.add(Op::Conv, name, std::move(inputs),
                     {{Attr::strides, Sizes(2, sizes.stride)},
                      {Attr::dilations, Sizes(2, 1)},
                      {Attr::pads, Sizes(4, sizes.padded ? sizes.kernel / 2 : 0)},
                      {Attr::group, sizes.groups}});
}

TensorId upsampling_convolution(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t channels) {
  const TensorId weight = builder.parameter(name + ".weight", {axis_size(builder, x, 1), channels, 2, 2});
  const TensorId bias = builder.parameter(name + ".bias", {channels});
  return builder.add(Op::ConvTranspose, name, {x, weight, bias},
                     {{Attr::strides, Sizes(2, 2)},
                      {Attr::dilations, Sizes(2, 1)},
                      {Attr::pads, Sizes(4, 0)},
                      {Attr::group, std::int64_t{1}},
                      {Attr::output_padding, Sizes(2, 0)}});
}

TensorId batch_norm(GraphBuilder& builder, const std::string& name, TensorId x) {
  const Shape channels{axis_size(builder, x, 1)};
  const TensorId scale = builder.parameter(name + ".weight", channels);
  const TensorId bias = builder.parameter(name + ".bias", channels);
  const TensorId mean = builder.statistic(name + ".running_mean", channels);
  const TensorId variance = builder.statistic(name + ".running_var", channels);
  const auto outputs = builder.add_many(Op::BatchNormalization, name, {x, scale, bias, mean, variance},
                                        {{Attr::epsilon, batch_norm_epsilon},
                                         {Attr::momentum, batch_norm_momentum},
                                         {Attr::training_mode, std::int64_t{1}}},
                                        3);
  builder.update(mean, outputs[1]);
  builder.update(variance, outputs[2]);
  builder.rename(outputs[1], name + ".running_mean.new");
  builder.rename(outputs[2], name + ".running_var.new");
  return outputs[0];
}

TensorId relu(GraphBuilder& builder, const std::string& name, TensorId x) { return builder.add(Op::Relu, name, {x}); }

TensorId max_pool(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t kernel, std::int64_t stride,
                  std::int64_t padding) {
  const auto places = [&](std::size_t axis) {
    return (axis_size(builder, x, axis) + 2 * padding - kernel) / stride + 1;
  };
  return builder.add(Op::MaxPool, name, {x},
                     {{Attr::kernel_shape, Sizes(2, kernel)},
                      {Attr::strides, Sizes(2, stride)},
                      {Attr::dilations, Sizes(2, 1)},
                      {Attr::pads, Sizes(4, padding)},
                      {Attr::shape, Shape{axis_size(builder, x, 0), axis_size(builder, x, 1), places(2), places(3)}},
                      {Attr::storage_order, std::int64_t{0}}});
}

namespace {

TensorId without_image_axes(GraphBuilder& builder, const std::string& name, TensorId x) {
  return builder.add(Op::Reshape, name + ".flatten", {x},
                     {{Attr::shape, Sizes{axis_size(builder, x, 0), axis_size(builder, x, 1)}}});
}

}  // namespace

TensorId global_mean(GraphBuilder& builder, const std::string& name, TensorId x) {
  const TensorId mean =
      builder.add(Op::ReduceMean, name, {x}, {{Attr::axes, Sizes{2, 3}}, {Attr::keepdims, std::int64_t{1}}});
  return without_image_axes(builder, name, mean);
}

TensorId global_average_pool(GraphBuilder& builder, const std::string& name, TensorId x) {
  const Sizes window{axis_size(builder, x, 2), axis_size(builder, x, 3)};
  const TensorId mean = builder.add(Op::AveragePool, name, {x},
                                    {{Attr::kernel_shape, window},
                                     {Attr::strides, window},
                                     {Attr::dilations, Sizes(2, 1)},
                                     {Attr::pads, Sizes(4, 0)},
                                     {Attr::shape, Shape{axis_size(builder, x, 0), axis_size(builder, x, 1), 1, 1}},
                                     {Attr::count_include_pad, std::int64_t{1}}});
  return without_image_axes(builder, name, mean);
}

TensorId fully_connected(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t outputs) {
  const TensorId weight = builder.parameter(name + ".weight", {outputs, axis_size(builder, x, 1)});
  const TensorId bias = builder.parameter(name + ".bias", {outputs});
  return builder.add(
      Op::Gemm, name, {x, weight, bias},
      {{Attr::alpha, 1.0}, {Attr::beta, 1.0}, {Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{1}}});
}

Expected<Graph> finish(GraphBuilder& builder, TensorId output, const std::string& output_name) {
  builder.output(output);
  auto graph = builder.finish();
  if (graph) (*graph)[output].name = output_name;
  return graph;
}

}  // namespace monet::networks
