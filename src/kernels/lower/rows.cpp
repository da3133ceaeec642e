// Kernels over rows: norms, softmax, losses, sums.
#include "kernels/lower/lowering.h"

#include <algorithm>

namespace monet::lowering {

namespace {

Kernel rows_kernel(KernelKind kind, KernelPart part, std::int64_t elements, std::int64_t columns) {
  Kernel kernel{.kind = kind, .part = part};
  kernel.columns = std::max<std::int64_t>(1, columns);
  kernel.rows = elements / kernel.columns;
  kernel.elements = elements;
  return kernel;
}

std::vector<Operand> allocate_outputs(Lowering& lowering, const Node& node) {
  std::vector<Operand> writes;
  for (TensorId output : node.outputs) {
    if (output.valid()) writes.push_back(lowering.allocate(output));
  }
  return writes;
}

std::vector<Operand> operands_of(Lowering& lowering, const Node& node) {
  std::vector<Operand> reads;
  for (TensorId input : node.inputs) {
    if (input.valid()) reads.push_back(lowering.operand(input));
  }
  return reads;
}

}  // namespace

bool is_norm_gradient(Op op) {
  switch (op) {
    case Op::BatchNormalizationGrad:
    case Op::BatchNormalizationParameterGrad:
    case Op::LayerNormalizationGrad:
    case Op::LayerNormalizationParameterGrad:
    case Op::RMSNormalizationGrad:
    case Op::RMSNormalizationParameterGrad:
    case Op::GroupNormalizationGrad:
    case Op::GroupNormalizationParameterGrad: return true;
    default: return false;
  }
}

std::int64_t columns_of_norm(const Node& node, const Shape& shape) {
  const auto rest = [&](std::size_t axis) { return element_count(std::span(shape).subspan(axis)); };
  if (node.attributes.has(Attr::num_groups)) {
    return element_count(shape) / std::max<std::int64_t>(1, shape[0] * node.attributes.integer(Attr::num_groups));
  }
  if (node.attributes.has(Attr::axis)) return rest(static_cast<std::size_t>(node.attributes.integer(Attr::axis)));
  return shape.size() > 2 ? rest(2) : shape.back();
}

namespace {

bool is_batch_norm(Op op) {
  return op == Op::BatchNormalization || op == Op::BatchNormalizationGrad || op == Op::BatchNormalizationParameterGrad;
}

Kernel batch_norm_kernel(const Operand& input, KernelPart part) {
  Kernel kernel{.kind = KernelKind::batch_norm, .part = part};
  kernel.batch = input.shape[0];
  kernel.c = input.shape[1];
  kernel.w = input.shape.size() > 2 ? input.shape.back() : 1;
  kernel.h = input.elements() / std::max<std::int64_t>(1, kernel.batch * kernel.c * kernel.w);
  // Of a matrix, channels are the last axis.
  kernel.channels_last = input.shape.size() == 2 || is_channels_last(input);
  return kernel;
}

// Both gradients of a norm in one call.
void lower_norm_gradient(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  std::vector<Operand> reads = operands_of(lowering, node);
  const bool last = is_batch_norm(node.op) && is_channels_last(reads[1]);
  for (std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    reads[i] = is_batch_norm(node.op) ? lowering.as_image(reads[i], last) : lowering.contiguous(reads[i]);
  }
  const Kernel kernel = is_batch_norm(node.op)
                            ? batch_norm_kernel(reads[1], KernelPart::backward)
                            : rows_kernel(KernelKind::layer_norm, KernelPart::backward, reads[1].elements(),
                                          columns_of_norm(node, reads[1].shape));
  std::vector<Operand> writes;
  const auto add = [&](const Node& each) {
    for (TensorId output : each.outputs) {
      if (!output.valid()) continue;
      const bool image = last && lowering.shape(output).size() == 4;
      writes.push_back(image ? lowering.allocate(output, reads[1].strides) : lowering.allocate(output));
    }
  };
  add(node);
  for (NodeId with : lowering.companions().with(id)) add(lowering.graph()[with]);
  lowering.emit(id, kernel, reads, writes);
}

}  // namespace

void count_batch(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  if (node.op != Op::BatchNormalization || node.attributes.integer_or(Attr::training_mode, 1) == 0) return;
  Kernel kernel{.kind = KernelKind::elementwise, .op = KernelOp::add_inplace};
  kernel.elements = 1;
  Operand counter = lowering.temporary({1}, 8);
  lowering.step().buffers.back().permanent = true;
  lowering.emit_beside(id, kernel, {counter}, {counter});
}

void lower_norm(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  if (is_norm_gradient(node.op)) return lower_norm_gradient(lowering, id);
  count_batch(lowering, id);
  std::vector<Operand> reads = operands_of(lowering, node);
  const bool batch = is_batch_norm(node.op);
  const bool last = batch && is_channels_last(reads[0]);
  reads[0] = batch ? lowering.as_image(reads[0], last) : lowering.contiguous(reads[0]);
  std::vector<Operand> writes;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorId output = node.outputs[i];
    if (!output.valid()) continue;
    const TensorId old = lowering.graph()[output].updates;
    if (old.valid()) {
      lowering.set(output, lowering.operand(old));
      writes.push_back(lowering.operand(old));
    } else {
      writes.push_back(last && i == 0 ? lowering.allocate(output, reads[0].strides) : lowering.allocate(output));
    }
  }
  const Kernel kernel = batch ? batch_norm_kernel(reads[0], KernelPart::forward)
                              : rows_kernel(KernelKind::layer_norm, KernelPart::forward, reads[0].elements(),
                                            columns_of_norm(node, reads[0].shape));
  lowering.emit(id, kernel, reads, writes);
}

namespace {

std::int64_t class_count(const Lowering& lowering, const Node& node, TensorId scores) {
  const Shape& shape = lowering.shape(scores);
  const std::int64_t axis = node.attributes.integer_or(Attr::axis, 1);
  return static_cast<std::size_t>(axis) < shape.size() ? shape[static_cast<std::size_t>(axis)] : 1;
}

void lower_class_loss(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  std::vector<Operand> reads = operands_of(lowering, node);
  reads[0] = lowering.contiguous(reads[0]);
  const std::int64_t classes = class_count(lowering, node, node.inputs[0]);
  const Operand loss = lowering.allocate(node.outputs[0]);
  Operand scores = reads[0];
  if (node.op == Op::SoftmaxCrossEntropyLoss) {
    const bool kept = node.outputs.size() > 1 && node.outputs[1].valid();
    const Operand logarithms =
        kept ? lowering.allocate(node.outputs[1]) : lowering.temporary(scores.shape, scores.element_bytes);
    lowering.emit_beside(id, rows_kernel(KernelKind::log_softmax, KernelPart::forward, scores.elements(), classes),
                         {scores}, {logarithms});
    scores = logarithms;
  }
  Operand chosen = scores;  // one of each row
  chosen.shape = {scores.elements() / std::max<std::int64_t>(1, classes)};
  chosen.strides = {classes};
  lowering.emit(id, rows_kernel(KernelKind::nll, KernelPart::forward, scores.elements(), classes), {chosen, reads[1]},
                {loss});
}

void lower_class_loss_gradient(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const std::vector<Operand> reads = operands_of(lowering, node);
  const Operand logarithms = reads[1];
  const std::int64_t classes = class_count(lowering, node, node.inputs[1]);
  const Operand inner = lowering.temporary(logarithms.shape, logarithms.element_bytes);
  lowering.emit_beside(id, rows_kernel(KernelKind::nll, KernelPart::backward, inner.elements(), classes),
                       {reads[0], reads[2]}, {inner});
  const Operand result = lowering.allocate(node.outputs[0]);
  lowering.emit(id, rows_kernel(KernelKind::log_softmax, KernelPart::backward, inner.elements(), classes),
                {inner, logarithms}, {result});
}

std::int64_t columns_along(const Shape& shape, const std::vector<std::int64_t>& axes) {
  std::int64_t columns = 1;
  for (std::int64_t axis : axes) columns *= shape[static_cast<std::size_t>(axis)];
  return columns;
}

// Softmax over axes of contiguous tensors.
void lower_rows(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  std::vector<Operand> reads = operands_of(lowering, node);
  for (Operand& each : reads) each = lowering.contiguous(each);
  const Operand result = lowering.allocate(node.outputs[0]);
  const bool backward = node.op == Op::SoftmaxGrad || node.op == Op::LogSoftmaxGrad;
  const bool logarithm = node.op == Op::LogSoftmax || node.op == Op::LogSoftmaxGrad;
  const Kernel kernel = rows_kernel(logarithm ? KernelKind::log_softmax : KernelKind::softmax,
                                    backward ? KernelPart::backward : KernelPart::forward, result.elements(),
                                    columns_along(result.shape, node.attributes.integers(Attr::axes)));
  lowering.emit(id, kernel, reads, {result});
}

// A loss of pairs: the difference or its like, then a sum; its gradient is one kernel.
void lower_pair_loss(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const std::vector<Operand> reads = operands_of(lowering, node);
  const std::vector<Operand> writes = allocate_outputs(lowering, node);
  const Operand& large = *std::ranges::max_element(reads, {}, [](const Operand& each) { return each.elements(); });
  lowering.emit(id, elementwise_kernel(KernelOp::add, reads, large), reads, writes);
}

}  // namespace

void lower_softmax(Lowering& lowering, NodeId id) {
  switch (lowering.graph()[id].op) {
    case Op::SoftmaxCrossEntropyLoss:
    case Op::NegativeLogLikelihoodLoss: return lower_class_loss(lowering, id);
    case Op::SoftmaxCrossEntropyLossGrad: return lower_class_loss_gradient(lowering, id);
    case Op::Softmax:
    case Op::LogSoftmax:
    case Op::SoftmaxGrad:
    case Op::LogSoftmaxGrad: return lower_rows(lowering, id);
    default: return lower_pair_loss(lowering, id);
  }
}

}  // namespace monet::lowering
