#include "graph/graph.h"

#include "base/require.h"

#include <array>

namespace monet {

std::string_view name_of(Role role) {
  static constexpr std::array<std::string_view, role_count> names = {
      "input",           "weight",          "master weight", "activation", "gradient",
      "weight gradient", "optimizer state", "statistic",     "constant",   "workspace"};
  return names[static_cast<std::size_t>(role)];
}

std::string_view name_of(Phase phase) {
  static constexpr std::array<std::string_view, phase_count> names = {"forward", "backward", "optimizer"};
  return names[static_cast<std::size_t>(phase)];
}

const Constant* Graph::constant(TensorId id) const {
  const auto found = constants.find(id);
  return found == constants.end() ? nullptr : &found->second;
}

TensorId Graph::add_tensor(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  return TensorId(tensors_.size() - 1);
}

NodeId Graph::add_node(Node node) {
  const NodeId id(nodes_.size());
  for (TensorId output : node.outputs) {
    if (output.valid()) (*this)[output].producer = id;
  }
  nodes_.push_back(std::move(node));
  return id;
}

void Graph::set_nodes(std::vector<Node> nodes) {
  for (Tensor& tensor : tensors_) tensor.producer = NodeId();
  nodes_.clear();
  nodes_.reserve(nodes.size());
  for (Node& node : nodes) add_node(std::move(node));
}

Readers::Readers(const Graph& graph) : first_(graph.tensors().size() + 1, 0) {
  for (const Node& node : graph.nodes()) {
    for (TensorId input : node.inputs) {
      if (input.valid()) ++first_[input.index() + 1];
    }
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  nodes_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    for (TensorId input : graph.nodes()[i].inputs) {
      if (input.valid()) nodes_[next[input.index()]++] = NodeId(i);
    }
  }
}

}  // namespace monet
