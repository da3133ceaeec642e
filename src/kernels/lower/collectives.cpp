// Exchanges with other chips: the network says how long they take (evaluate/kernels/kernel_network.h).
#include "kernels/lower/lowering.h"

#include <algorithm>

namespace monet::lowering {

namespace {

// Where nobody else reads what is summed, the sum takes its place.
bool sums_in_place(const Lowering& lowering, const Node& node, TensorId input) {
  const Graph& graph = lowering.graph();
  const NodeId producer = graph[input].producer;
  return node.op == Op::AllReduce && producer.valid() && lowering.readers(input).size() == 1 &&
         family_of(graph[producer].op) != OpFamily::view;
}

}  // namespace

void lower_collective(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  std::vector<Operand> reads, writes;
  Kernel kernel{.kind = KernelKind::elementwise, .op = KernelOp::copy};
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Operand from = lowering.operand(node.inputs[i]);
    const Operand input = lowering.contiguous(from);
    reads.push_back(input);
    kernel.elements += input.elements();
    if (i >= node.outputs.size() || !node.outputs[i].valid()) continue;
    if (sums_in_place(lowering, node, node.inputs[i])) {
      lowering.set(node.outputs[i], input);
    } else {
      lowering.allocate(node.outputs[i]);
    }
    writes.push_back(lowering.operand(node.outputs[i]));
  }
  lowering.emit(id, kernel, reads, writes).collective = true;
}

}  // namespace monet::lowering
