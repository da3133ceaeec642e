// Gathers, paddings and the like; values that come from nothing; updates of parameters.
#include "kernels/lower/lowering.h"

#include <algorithm>

namespace monet::lowering {

namespace {

Kernel plain_kernel(KernelOp op, std::int64_t elements, double passes) {
  Kernel kernel{.kind = KernelKind::elementwise, .op = op};
  kernel.elements = elements;
  kernel.passes = passes;
  return kernel;
}

bool is_one_place(const Lowering& lowering, TensorId indices) {
  return lowering.shape(indices).empty() && lowering.graph().constant(indices) != nullptr;
}

// Zeros, then a copy into a part of them.
void place_into_zeros(Lowering& lowering, NodeId id, const Operand& part) {
  const Node& node = lowering.graph()[id];
  const Operand whole = lowering.allocate(node.outputs[0]);
  if (lowering.options().in_parts) {
    lowering.emit(id, plain_kernel(KernelOp::copy, whole.elements(), 2), {part}, {whole});
    return;
  }
  lowering.emit_beside(id, plain_kernel(KernelOp::fill, whole.elements(), 1), {}, {whole});
  Operand hole = whole;  // of the part's shape
  hole.shape = part.shape;
  while (hole.strides.size() > part.shape.size()) hole.strides.erase(hole.strides.begin());
  lowering.emit(id, copy_kernel(part, hole), {part}, {hole});
}

void lower_gather(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const Operand table = lowering.operand(node.inputs[0]);
  const auto axis = static_cast<std::size_t>(node.attributes.integer(Attr::axis));
  if (is_one_place(lowering, node.inputs[1])) {
    const std::int64_t place = lowering.graph().constant(node.inputs[1])->integer_at(0);
    Operand view = sliced(table, axis, std::max<std::int64_t>(0, place), 1, 1);
    view.shape.erase(view.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(axis));
    return lowering.set(node.outputs[0], view);
  }
  const Operand result = lowering.allocate(node.outputs[0]);
  Kernel kernel = plain_kernel(KernelOp::embedding, result.elements(), 2);
  kernel.vocabulary = table.shape.empty() ? 1 : table.shape[axis];
  kernel.d = table.shape.empty() ? 1 : table.shape.back();
  Operand rows = table;  // as many as are read
  if (result.elements() < table.elements()) {
    rows.shape = result.shape;
    rows.strides = result.strides;
  }
  lowering.emit(id, kernel, {rows, lowering.operand(node.inputs[1])}, {result});
}

// Zeros in 32 bits, to which rows are added where they belong, then the numbers of the result.
void scatter_gradient(Lowering& lowering, NodeId id, const Operand& gradient) {
  const Node& node = lowering.graph()[id];
  const Operand result = lowering.allocate(node.outputs[0]);
  const bool wide = result.element_bytes >= 4;
  const Operand sums = wide ? result : lowering.temporary(result.shape, 4);
  lowering.emit_beside(id, plain_kernel(KernelOp::fill, sums.elements(), 1), {}, {sums});
  Operand rows = sums;  // as many as are added to
  rows.shape = gradient.shape;
  rows.strides = contiguous_strides(gradient.shape);
  Kernel scatter = plain_kernel(KernelOp::embedding, gradient.elements(), 2);
  scatter.vocabulary = result.shape.empty() ? 1 : result.shape[0];
  const std::vector<Operand> reads = {gradient, lowering.operand(node.inputs[1]), rows};
  if (wide) {
    lowering.emit(id, scatter, reads, {rows});
    return;
  }
  lowering.emit_beside(id, scatter, {reads[0], reads[1], reads[2]}, {rows});
  lowering.emit(id, plain_kernel(KernelOp::cast, result.elements(), 2), {sums}, {result});
}

void lower_gather_gradient(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const Operand gradient = lowering.operand(node.inputs[0]);
  if (is_one_place(lowering, node.inputs[1])) return place_into_zeros(lowering, id, gradient);
  if (lowering.options().in_parts) return scatter_gradient(lowering, id, gradient);
  const Operand from = lowering.contiguous(gradient);
  const Operand result = lowering.allocate(node.outputs[0]);
  Kernel kernel = plain_kernel(KernelOp::embedding_backward, from.elements(), 2);
  kernel.vocabulary = result.shape.empty() ? 1 : result.shape[0];
  kernel.d = result.shape.empty() ? 1 : std::max<std::int64_t>(1, result.shape.back());
  kernel.rows = from.elements() / kernel.d;
  kernel.columns = kernel.d;
  lowering.emit(id, kernel, {from, lowering.operand(node.inputs[1])}, {result});
}

void lower_max_pool_gradient(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const bool last = is_channels_last(lowering.operand(node.inputs[1]));
  const Operand gradient = lowering.as_image(lowering.operand(node.inputs[0]), last);
  const Shape& shape = lowering.shape(node.outputs[0]);
  const Operand result = last ? lowering.allocate(node.outputs[0], dense_strides(shape, {0, 2, 3, 1}))
                              : lowering.allocate(node.outputs[0]);
  // Windows that overlap are searched by each input.
  const auto forward = [&]() -> const Node* {
    const NodeId made = lowering.graph()[node.inputs[1]].producer;
    return made.valid() && lowering.graph()[made].op == Op::MaxPool ? &lowering.graph()[made] : nullptr;
  }();
  const bool wide = forward != nullptr && forward->attributes.integers(Attr::kernel_shape).back() > 2;
  Kernel kernel =
      plain_kernel(wide ? KernelOp::max_pool_3s2_backward : KernelOp::max_pool_2_backward, result.elements(), 2);
  kernel.channels_last = last;
  std::vector<Operand> reads = {gradient, lowering.operand(node.inputs[1])};
  if (forward != nullptr) reads.push_back(kept(lowering.operand(forward->inputs[0])));
  lowering.emit(id, kernel, reads, {result});
}

// Whatever it does, it reads its inputs and writes its outputs.
void lower_plain(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  std::vector<Operand> reads, writes;
  for (TensorId input : node.inputs) {
    if (input.valid()) reads.push_back(lowering.operand(input));
  }
  for (TensorId output : node.outputs) {
    if (output.valid()) writes.push_back(lowering.allocate(output));
  }
  const double passes = static_cast<double>(reads.size() + writes.size());
  lowering.emit(id, plain_kernel(KernelOp::add, writes[0].elements(), passes), reads, writes);
}

}  // namespace

void lower_movement(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  switch (node.op) {
    case Op::Gather: return lower_gather(lowering, id);
    case Op::GatherGrad: return lower_gather_gradient(lowering, id);
    case Op::MaxPoolGrad: return lower_max_pool_gradient(lowering, id);
    case Op::Pad: return place_into_zeros(lowering, id, lowering.operand(node.inputs[0]));
    default: return lower_plain(lowering, id);
  }
}

void lower_generate(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  if (!node.inputs.empty()) return lower_plain(lowering, id);
  // The mask of a dropout that drops nothing, and the like: nobody makes it.
  const auto& results = lowering.graph().outputs;
  if (lowering.readers(node.outputs[0]).empty() && std::ranges::find(results, node.outputs[0]) == results.end()) {
    return lowering.set_nothing(node.outputs[0]);
  }
  const Operand result = lowering.allocate(node.outputs[0]);
  lowering.emit(id, plain_kernel(KernelOp::fill, result.elements(), 1), {}, {result});
}

namespace {

KernelOp optimizer_op(const Node& node) {
  switch (node.op) {
    case Op::SgdUpdate: return KernelOp::sgd;
    case Op::MomentumUpdate:
    case Op::LionUpdate: return KernelOp::momentum;
    default: return node.attributes.integer_or(Attr::decoupled, 0) != 0 ? KernelOp::adamw : KernelOp::adam;
  }
}

}  // namespace

// All parameters with one optimizer at once. Adam keeps the number of the step for each of them.
void lower_optimizer(Lowering& lowering, NodeId id) {
  Kernel kernel{.kind = KernelKind::optimizer, .op = optimizer_op(lowering.graph()[id])};
  std::vector<Operand> reads, writes;
  const auto add = [&](const Node& node) {
    kernel.tensors.push_back(element_count(lowering.shape(node.inputs[0])));
    for (TensorId input : node.inputs) {
      if (input.valid() && !lowering.shape(input).empty()) reads.push_back(lowering.operand(input));
    }
    for (TensorId output : node.outputs) {
      if (!output.valid()) continue;
      const TensorId old = lowering.graph()[output].updates;
      if (old.valid()) lowering.set(output, lowering.operand(old));
      writes.push_back(old.valid() ? lowering.operand(old) : lowering.allocate(output));
    }
  };
  for (NodeId with : lowering.companions().with(id)) {
    if (family_of(lowering.graph()[with].op) == OpFamily::optimizer) add(lowering.graph()[with]);
  }
  add(lowering.graph()[id]);
  if (kernel.op == KernelOp::adam || kernel.op == KernelOp::adamw) {
    for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
      lowering.step().buffers.push_back({.bytes = 4, .permanent = true});
    }
  }
  lowering.emit(id, kernel, reads, writes);
}

}  // namespace monet::lowering
