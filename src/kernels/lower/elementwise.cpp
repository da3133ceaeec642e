#include "kernels/lower/lowering.h"
#include "kernels/lower/split_gradient.h"

#include <algorithm>

namespace monet::lowering {

namespace {

KernelOp op_of(Op op, std::size_t operands) {
  switch (op) {
    case Op::Cast: return KernelOp::cast;
    case Op::Relu:
    case Op::Clip:
    case Op::LeakyRelu: return KernelOp::relu;
    case Op::Gelu: return KernelOp::gelu;
    case Op::Silu:
    case Op::Mish:
    case Op::HardSwish: return KernelOp::silu;
    case Op::Sigmoid:
    case Op::Tanh:
    case Op::Exp:
    case Op::Erf:
    case Op::Softplus: return KernelOp::sigmoid;
    case Op::ReluGrad:
    case Op::ClipGrad:
    case Op::LeakyReluGrad:
    case Op::HardSigmoidGrad:
    case Op::SigmoidGrad:
    case Op::TanhGrad: return KernelOp::relu_backward;
    case Op::GeluGrad: return KernelOp::gelu_backward;
    case Op::SiluGrad:
    case Op::MishGrad:
    case Op::HardSwishGrad: return KernelOp::silu_backward;
    default: return operands > 1 ? KernelOp::add : KernelOp::mul_scalar;
  }
}

// Dense, in the order of axes of the first operand of the result's shape.
Strides result_strides(std::span<const Operand> operands, const Shape& shape) {
  for (const Operand& each : operands) {
    if (each.shape == shape && !is_broadcast(each)) return dense_strides_as(shape, each.strides);
  }
  return contiguous_strides(shape);
}

bool leads(const Lowering& lowering, NodeId node, Companion kind) {
  const auto& with = lowering.companions().with(node);
  return std::ranges::any_of(with, [&](NodeId each) { return lowering.companions().of(each).kind == kind; });
}

// g · (-1/2 r³) from r = 1 / √x: three small kernels.
void lower_root_gradient(Lowering& lowering, NodeId id) {
  const TensorId output = lowering.graph()[id].outputs[0];
  const Operand result = lowering.allocate(output);
  const Operand power = lowering.temporary(result.shape, result.element_bytes);
  const Operand halved = lowering.temporary(result.shape, result.element_bytes);
  const Operand gradient = lowering.operand(lowering.graph()[id].inputs[0]);
  const auto kernel = [&](KernelOp op, double passes) {
    Kernel each{.kind = KernelKind::elementwise, .op = op};
    each.elements = result.elements();
    each.passes = passes;
    return each;
  };
  lowering.emit_beside(id, kernel(KernelOp::mul_scalar, 2), {gradient}, {power});
  lowering.emit_beside(id, kernel(KernelOp::mul_scalar, 2), {gradient}, {halved});
  lowering.emit(id, kernel(KernelOp::add, 3), {power, halved}, {result});
}

// The gradient of a power computes the power of one less, also where that is one.
void copy_for_power(Lowering& lowering, NodeId id, const Operand& base) {
  const Graph& graph = lowering.graph();
  const Node& node = graph[id];
  if (node.op != Op::Mul || node.phase != Phase::backward || graph.constant(node.inputs[1]) == nullptr) return;
  const bool power = std::ranges::any_of(lowering.readers(node.inputs[0]), [&](NodeId reader) {
    const Node& forward = graph[reader];
    return forward.op == Op::Pow && forward.inputs[0] == node.inputs[0] && graph.constant(forward.inputs[1]) != nullptr;
  });
  if (!power) return;
  Operand copy = lowering.temporary(base.shape, base.element_bytes);
  lowering.emit_beside(id, copy_kernel(base, copy), {base}, {copy});
}

void lower_split_gradient(Lowering& lowering, NodeId id) {
  const Graph& graph = lowering.graph();
  const std::vector<NodeId>& pieces = lowering.companions().with(id);
  std::vector<Operand> parts;
  for (NodeId piece : pieces) parts.push_back(lowering.operand(graph[piece].inputs[0]));
  const Operand result = lowering.allocate(graph[id].outputs[0]);
  lowering.emit(id, concat_kernel(parts, result, axis_of_piece(graph, pieces.front())), parts, {result});
}

// One addition after the other.
void lower_sum(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  Operand total = lowering.operand(node.inputs[0]);
  const Operand result = lowering.allocate(node.outputs[0]);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const std::vector<Operand> operands = {total, lowering.operand(node.inputs[i])};
    Kernel kernel = elementwise_kernel(KernelOp::add, operands, result);
    if (i + 1 == node.inputs.size()) {
      lowering.emit(id, std::move(kernel), operands, {result});
    } else {
      lowering.emit_beside(id, std::move(kernel), {operands[0], operands[1]}, {result});
    }
    total = result;
  }
  if (node.inputs.size() < 2) lowering.set(node.outputs[0], total);
}

}  // namespace

void lower_elementwise(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  if (leads(lowering, id, Companion::split_part)) return lower_split_gradient(lowering, id);
  if (node.op == Op::Sum) return lower_sum(lowering, id);
  if (leads(lowering, id, Companion::root_gradient)) return lower_root_gradient(lowering, id);
  std::vector<Operand> operands;
  for (TensorId input : node.inputs) {
    if (input.valid()) operands.push_back(lowering.operand(input));
  }
  if (!lowering.options().in_parts) copy_for_power(lowering, id, operands[0]);
  const Shape& shape = lowering.shape(node.outputs[0]);
  const Operand result = lowering.allocate(node.outputs[0], result_strides(operands, shape));
  const auto counts = std::ranges::count_if(operands, [](const Operand& each) { return each.elements() > 1; });
  Kernel kernel = elementwise_kernel(op_of(node.op, static_cast<std::size_t>(counts)), operands, result);
  lowering.emit(id, std::move(kernel), operands, {result});
}

}  // namespace monet::lowering
