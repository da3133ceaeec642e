#include "kernels/lower/lowering.h"

#include <algorithm>
#include <numeric>

namespace monet::lowering {

namespace {

std::size_t axis_of(const Node& node) { return static_cast<std::size_t>(node.attributes.integer(Attr::axis)); }

void lower_slice(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const auto& axes = node.attributes.integers(Attr::axes);
  const auto& starts = node.attributes.integers(Attr::starts);
  const auto& steps = node.attributes.integers(Attr::steps);
  Operand view = lowering.operand(node.inputs[0]);
  const Shape& shape = lowering.shape(node.outputs[0]);
  if (std::ranges::any_of(steps, [](std::int64_t step) { return step < 0; })) {
    view.shape = shape;  // a flip is a copy
    const Operand result = lowering.allocate(node.outputs[0]);
    lowering.emit(id, copy_kernel(result, result), {result}, {result});
    return;
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    view = sliced(view, axis, starts[i], shape[axis], steps[i]);
  }
  lowering.set(node.outputs[0], view);
}

void lower_split(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const Operand whole = lowering.operand(node.inputs[0]);
  std::int64_t start = 0;
  const auto& sizes = node.attributes.integers(Attr::split);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i < node.outputs.size() && node.outputs[i].valid()) {
      lowering.set(node.outputs[i], sliced(whole, axis_of(node), start, sizes[i], 1));
    }
    start += sizes[i];
  }
}

// The gradient of a mean divides while it expands; any other expansion is a view.
void lower_expand(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const Operand from = lowering.operand(node.inputs[0]);
  if (lowering.companions().with(id).empty()) {
    return lowering.set(node.outputs[0], expanded(from, lowering.shape(node.outputs[0])));
  }
  const Operand result = lowering.allocate(node.outputs[0]);
  lowering.emit(id, elementwise_kernel(KernelOp::mul_scalar, std::span(&from, 1), result), {from}, {result});
}

void lower_concat(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  std::vector<Operand> parts;
  for (TensorId input : node.inputs) parts.push_back(lowering.operand(input));
  const bool last = std::ranges::all_of(parts, is_channels_last);
  const Shape& shape = lowering.shape(node.outputs[0]);
  const Operand result = last ? lowering.allocate(node.outputs[0], dense_strides(shape, {0, 2, 3, 1}))
                              : lowering.allocate(node.outputs[0]);
  lowering.emit(id, concat_kernel(parts, result, axis_of(node)), parts, {result});
}

// Blocks of pixels to channels and back: a permuted copy.
void lower_blocks(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const Operand from = lowering.operand(node.inputs[0]);
  const Operand result = lowering.allocate(node.outputs[0]);
  Kernel kernel{.kind = KernelKind::elementwise, .op = KernelOp::bhds_to_bhsd};
  kernel.elements = result.elements();
  lowering.emit(id, kernel, {from}, {result});
}

}  // namespace

void lower_view(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  switch (node.op) {
    case Op::Identity: lowering.set(node.outputs[0], lowering.operand(node.inputs[0])); break;
    case Op::Reshape:
      lowering.set(node.outputs[0],
                   lowering.as_shape(lowering.operand(node.inputs[0]), lowering.shape(node.outputs[0])));
      break;
    case Op::Transpose:
      lowering.set(node.outputs[0], permuted(lowering.operand(node.inputs[0]), node.attributes.integers(Attr::perm)));
      break;
    case Op::Slice: lower_slice(lowering, id); break;
    case Op::Split: lower_split(lowering, id); break;
    case Op::Expand: lower_expand(lowering, id); break;
    case Op::Concat: lower_concat(lowering, id); break;
    default: lower_blocks(lowering, id); break;
  }
}

}  // namespace monet::lowering
