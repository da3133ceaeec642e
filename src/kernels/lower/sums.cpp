// Reductions.
#include "kernels/lower/lowering.h"

#include <algorithm>

namespace monet::lowering {

namespace {

std::vector<bool> reduced_axes(const Node& node, std::size_t rank) {
  std::vector<bool> reduced(rank, !node.attributes.has(Attr::axes) && !node.attributes.has(Attr::axis));
  if (node.attributes.has(Attr::axes)) {
    for (std::int64_t axis : node.attributes.integers(Attr::axes)) reduced[static_cast<std::size_t>(axis)] = true;
  } else if (node.attributes.has(Attr::axis)) {
    reduced[static_cast<std::size_t>(node.attributes.integer(Attr::axis))] = true;
  }
  return reduced;
}

// Which sum it is: by what stays between the axes that go.
KernelOp op_of(const Operand& from, const std::vector<bool>& reduced) {
  std::size_t last = from.shape.size();
  bool stays = false, inner = false, outer = false;
  for (std::size_t i = 0; i < from.shape.size(); ++i) {
    if (from.shape[i] > 1) last = i;
  }
  for (std::size_t i = 0; i < from.shape.size(); ++i) {
    if (from.shape[i] <= 1) continue;
    if (!reduced[i]) stays = true;
    if (reduced[i] && i == last) inner = true;
    if (reduced[i] && !stays) outer = true;
  }
  if (!stays) return KernelOp::sum;
  if (!inner) return KernelOp::sum_rows;
  return outer ? KernelOp::sum_023 : KernelOp::mean_23;
}

}  // namespace

void lower_reduction(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const Operand from = lowering.operand(node.inputs[0]);
  std::vector<Operand> writes;
  for (TensorId output : node.outputs) {
    if (output.valid()) writes.push_back(lowering.allocate(output));
  }
  Kernel kernel{.kind = KernelKind::elementwise};
  kernel.op = op_of(from, reduced_axes(node, from.shape.size()));
  kernel.elements = from.elements();
  kernel.columns = std::max<std::int64_t>(1, writes[0].elements());
  kernel.rows = from.elements() / kernel.columns;
  kernel.passes = 1;
  if (from.shape.size() == 4) {
    kernel.batch = from.shape[0];
    kernel.c = from.shape[1];
    kernel.h = from.shape[2];
    kernel.w = from.shape[3];
  }
  lowering.emit(id, kernel, {from}, writes);
}

}  // namespace monet::lowering
