#include "graph/compact.h"

namespace monet {

Graph compact(Graph graph, std::vector<TensorId>* renumbered) {
  std::vector<bool> used(graph.tensors().size(), false);
  const auto use = [&](const std::vector<TensorId>& ids) {
    for (TensorId id : ids) {
      if (id.valid()) used[id.index()] = true;
    }
  };
  use(graph.inputs);
  use(graph.outputs);
  for (const Node& node : graph.nodes()) {
    use(node.inputs);
    use(node.outputs);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    if (used[i] && tensor.updates.valid()) used[tensor.updates.index()] = true;
  }

  Graph result;
  result.name = graph.name;
  std::vector<TensorId> target(used.size());
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) target[i] = result.add_tensor(std::move(graph[TensorId(i)]));
  }
  const auto renumber = [&](std::vector<TensorId> ids) {
    for (TensorId& id : ids) {
      if (id.valid()) id = target[id.index()];
    }
    return ids;
  };
  for (std::size_t i = 0; i < result.tensors().size(); ++i) {
    Tensor& tensor = result[TensorId(i)];
    if (tensor.updates.valid()) tensor.updates = target[tensor.updates.index()];
  }
  result.inputs = renumber(graph.inputs);
  result.outputs = renumber(graph.outputs);
  for (auto& [id, constant] : graph.constants) {
    if (used[id.index()]) result.constants.emplace(target[id.index()], std::move(constant));
  }
  std::vector<Node> nodes;
  nodes.reserve(graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    Node node = std::move(graph[NodeId(i)]);
    node.inputs = renumber(std::move(node.inputs));
    node.outputs = renumber(std::move(node.outputs));
    nodes.push_back(std::move(node));
  }
  result.set_nodes(std::move(nodes));
  if (renumbered != nullptr) *renumbered = std::move(target);
  return result;
}

}  // namespace monet
