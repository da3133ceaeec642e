#include "onnx/roles.h"

#include <algorithm>

namespace monet::onnx {

namespace {

// Operators that occur in no forward part.
bool only_backward(Op op) {
  return op == Op::SoftmaxCrossEntropyLossGrad || op == Op::ReluGrad || op == Op::AveragePoolGrad;
}

bool any_of(const std::vector<TensorId>& ids, const std::vector<bool>& tensors) {
  return std::ranges::any_of(ids, [&](TensorId id) { return id.valid() && tensors[id.index()]; });
}

void mark_outputs(const Node& node, std::vector<bool>& tensors) {
  for (TensorId id : node.outputs) {
    if (id.valid()) tensors[id.index()] = true;
  }
}

// What does not lead to the loss and is read by later phases only prepares their operands: it belongs to them.
void assign_helpers(Graph& graph, const std::vector<bool>& starts) {
  std::vector<bool> leads(graph.tensors().size(), false);
  std::vector<bool> read_forward(graph.tensors().size(), false);
  std::vector<bool> read(graph.tensors().size(), false);
  for (TensorId id : graph.outputs) read_forward[id.index()] = true;
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    Node& node = graph[NodeId(i)];
    const bool to_loss = starts[i] || any_of(node.outputs, leads);
    if (node.phase == Phase::forward && !to_loss && any_of(node.outputs, read) && !any_of(node.outputs, read_forward)) {
      node.phase = Phase::backward;
    }
    for (TensorId id : node.inputs) {
      if (!id.valid()) continue;
      read[id.index()] = true;
      if (to_loss) leads[id.index()] = true;
      if (node.phase == Phase::forward) read_forward[id.index()] = true;
    }
  }
}

}  // namespace

bool assign_phases(Graph& graph) {
  const bool training = std::ranges::any_of(graph.nodes(), [](const Node& node) { return only_backward(node.op); });
  if (!training) return false;
  const std::size_t tensors = graph.tensors().size();
  const std::size_t nodes = graph.nodes().size();

  // Backward: the gradient operators and everything that follows from one. Where it starts, at operators that follow
  // from no other, is the gradient of the loss.
  std::vector<bool> follows(tensors, false);
  std::vector<bool> starts(nodes, false);
  for (std::size_t i = 0; i < nodes; ++i) {
    Node& node = graph[NodeId(i)];
    const bool after = any_of(node.inputs, follows);
    if (!only_backward(node.op) && !after) continue;
    starts[i] = !after;
    node.phase = Phase::backward;
    mark_outputs(node, follows);
  }
  // Optimizer state: floating-point inputs that element-wise operators read, and of those none that leads to a gradient
  // operator. Everything that follows from such state is the optimizer.
  std::vector<bool> leads(tensors, false);
  std::vector<bool> read_otherwise(tensors, false);
  std::vector<bool> read(tensors, false);
  for (std::size_t i = nodes; i-- > 0;) {
    const Node& node = graph[NodeId(i)];
    const bool before = only_backward(node.op) || any_of(node.outputs, leads);
    for (TensorId id : node.inputs) {
      if (!id.valid()) continue;
      read[id.index()] = true;
      if (before) leads[id.index()] = true;
      if (before || family_of(node.op) != OpFamily::elementwise) read_otherwise[id.index()] = true;
    }
  }
  std::vector<bool> state(tensors, false);
  for (TensorId id : graph.inputs) {
    const TensorType& type = graph[id].type;
    state[id.index()] =
        is_floating(type.format.element) && !type.shape.empty() && read[id.index()] && !read_otherwise[id.index()];
    if (state[id.index()]) graph[id].role = Role::optimizer_state;
  }
  std::vector<bool> updates = state;
  for (std::size_t i = 0; i < nodes; ++i) {
    Node& node = graph[NodeId(i)];
    if (!any_of(node.inputs, updates)) continue;
    node.phase = Phase::optimizer;
    mark_outputs(node, updates);
  }
  assign_helpers(graph, starts);
  return true;
}

}  // namespace monet::onnx
