#include "kernels/lower/lowering.h"

#include <algorithm>

namespace monet::lowering {

namespace {

// Images are the last two axes; one axis is an image of one row.
struct Image {
  std::int64_t batch = 1, channels = 1, height = 1, width = 1;
};

Image image_of(const Shape& shape) {
  Image image{.batch = shape[0], .channels = shape[1]};
  if (shape.size() > 2) image.width = shape.back();
  for (std::size_t i = 2; i + 1 < shape.size(); ++i) image.height *= shape[i];
  return image;
}

// `small` and `large`: what the direct convolution reads and writes, whichever of them this kernel computes.
Kernel convolution_kernel(const Lowering& lowering, const Node& node, KernelPart part, const Operand& input,
                          const Shape& from, const Shape& to, const Shape& weight) {
  Kernel kernel{.kind = KernelKind::convolution, .part = part, .precision = lowering.product_precision(input)};
  const Image x = image_of(from), y = image_of(to);
  kernel.batch = x.batch;
  kernel.c = x.channels;
  kernel.h = x.height;
  kernel.w = x.width;
  kernel.o = y.channels;
  kernel.oh = y.height;
  kernel.ow = y.width;
  kernel.kernel_w = weight.size() > 2 ? weight.back() : 1;
  for (std::size_t i = 2; i + 1 < weight.size(); ++i) kernel.kernel_h *= weight[i];
  const auto& strides = node.attributes.integers(Attr::strides);
  kernel.stride = strides.empty() ? 1 : strides.back();
  kernel.groups = node.attributes.integer(Attr::group);
  kernel.channels_last = is_channels_last(input);
  return kernel;
}

bool has_bias(const Node& node) { return node.inputs.size() > 2 && node.inputs[2].valid(); }

// What is added to every channel, in place.
void add_bias(Lowering& lowering, NodeId id, const Operand& result) {
  const Node& node = lowering.graph()[id];
  if (!has_bias(node)) return;
  Kernel kernel{.kind = KernelKind::elementwise, .op = KernelOp::bias_nchw_inplace};
  kernel.elements = result.elements();
  if (is_channels_last(result)) kernel.op = KernelOp::row_bias;
  lowering.emit_beside(id, kernel, {result, lowering.operand(node.inputs[2])}, {result});
}

Operand allocate_image(Lowering& lowering, TensorId id, bool channels_last) {
  if (!channels_last) return lowering.allocate(id);
  return lowering.allocate(id, dense_strides(lowering.shape(id), {0, 2, 3, 1}));
}

bool works_channels_last(Lowering& lowering, TensorId image) {
  const Operand& operand = lowering.operand(image);
  return is_channels_last(operand) || (lowering.options().channels_last && operand.shape.size() == 4);
}

// Weights lie as they are given; a library turns them itself. A compiler turns them before.
Operand weight_of(Lowering& lowering, TensorId weight) {
  const Operand& operand = lowering.operand(weight);
  const bool last = lowering.options().channels_last && operand.shape.size() == 4;
  return last ? lowering.as_image(operand, true) : lowering.contiguous(operand);
}

void lower_direct(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const bool last = works_channels_last(lowering, node.inputs[0]);
  const Operand input = lowering.as_image(lowering.operand(node.inputs[0]), last);
  const Operand weight = weight_of(lowering, node.inputs[1]);
  const Operand result = allocate_image(lowering, node.outputs[0], last);
  const bool apart = lowering.options().in_parts && has_bias(node);
  Operand sum = result;  // without the bias
  if (apart) sum.buffer = lowering.temporary(result.shape, result.element_bytes).buffer;
  const bool forward = node.op == Op::Conv;
  const Kernel kernel =
      forward ? convolution_kernel(lowering, node, KernelPart::forward, input, input.shape, result.shape, weight.shape)
              : convolution_kernel(lowering, node, KernelPart::input_gradient, input, result.shape, input.shape,
                                   weight.shape);
  lowering.emit(id, kernel, {input, weight}, {sum});
  if (apart) {
    Kernel bias{.kind = KernelKind::elementwise, .op = KernelOp::row_bias};
    bias.elements = result.elements();
    lowering.emit_beside(id, bias, {sum, lowering.operand(node.inputs[2])}, {result});
  } else {
    add_bias(lowering, id, result);
  }
}

void lower_weight_gradient(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const bool last = works_channels_last(lowering, node.inputs[0]) || works_channels_last(lowering, node.inputs[1]);
  const Operand input = lowering.as_image(lowering.operand(node.inputs[0]), last);
  const Operand gradient = lowering.as_image(lowering.operand(node.inputs[1]), last);
  const Operand result = lowering.allocate(node.outputs[0]);
  const Kernel kernel =
      convolution_kernel(lowering, node, KernelPart::weight_gradient, input, input.shape, gradient.shape, result.shape);
  lowering.emit(id, kernel, {input, gradient}, {result});
}

}  // namespace

void lower_convolution(Lowering& lowering, NodeId id) {
  if (lowering.graph()[id].op == Op::ConvWeightGrad) return lower_weight_gradient(lowering, id);
  lower_direct(lowering, id);
}

namespace {

KernelOp pool_op(const Node& node, bool backward) {
  const auto& size = node.attributes.integers(Attr::kernel_shape);
  const auto& strides = node.attributes.integers(Attr::strides);
  const bool wide = !size.empty() && size.back() > 2;
  const bool dense = wide && size.back() < 7 && (strides.empty() || strides.back() == 1);
  if (node.op == Op::MaxPool)
    return dense ? KernelOp::max_pool_3s1 : wide ? KernelOp::max_pool_3s2 : KernelOp::max_pool_2;
  if (backward) return wide ? KernelOp::avg_pool_3s1_backward : KernelOp::avg_pool_2_backward;
  return dense ? KernelOp::avg_pool_3s1 : wide ? KernelOp::adaptive_avg_pool_7 : KernelOp::avg_pool_2;
}

// Of what a pool chose: places in a window take a byte where a compiler keeps them.
Operand allocate_indices(Lowering& lowering, TensorId id, bool channels_last) {
  Operand indices = allocate_image(lowering, id, channels_last);
  if (!lowering.options().in_parts) return indices;
  indices.element_bytes = 1;
  lowering.step().buffers[indices.buffer.index()].bytes = indices.elements();
  lowering.set(id, indices);
  return indices;
}

}  // namespace

void lower_pool(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const bool last = is_channels_last(lowering.operand(node.inputs[0]));
  const Operand input = lowering.as_image(lowering.operand(node.inputs[0]), last);
  const Operand result = allocate_image(lowering, node.outputs[0], last);
  const bool backward = node.op == Op::AveragePoolGrad;
  Kernel kernel{.kind = KernelKind::elementwise, .op = pool_op(node, backward)};
  const Image image = image_of(backward ? result.shape : input.shape);
  kernel.elements = backward ? result.elements() : input.elements();
  kernel.batch = image.batch;
  kernel.c = image.channels;
  kernel.h = image.height;
  kernel.w = image.width;
  kernel.channels_last = last;
  std::vector<Operand> reads = {input};
  if (backward) {
    if (const auto forward = lowering.take_pooled(result.shape)) reads.push_back(kept(*forward));
  } else if (node.op == Op::AveragePool) {
    lowering.keep_pooled(input);
  }
  std::vector<Operand> writes = {result};
  if (node.outputs.size() > 1 && node.outputs[1].valid())
    writes.push_back(allocate_indices(lowering, node.outputs[1], last));
  lowering.emit(id, kernel, reads, writes);
}

}  // namespace monet::lowering
