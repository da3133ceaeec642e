#include "training/insertions.h"

#include "graph/compact.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::training {

Insertions::Insertions(Graph graph) : graph_(std::move(graph)) {
  added_.resize(graph_.nodes().size() + 1);
  was_read_.assign(graph_.tensors().size(), false);
  for (const Tensor& tensor : graph_.tensors()) tensors_.insert(tensor.name);
  for (const Node& node : graph_.nodes()) {
    nodes_.insert(node.name);
    for (TensorId id : node.inputs) {
      if (id.valid()) was_read_[id.index()] = true;
    }
  }
}

std::string Insertions::unique(std::string name, std::unordered_set<std::string>& names) {
  std::string candidate = name;
  for (int suffix = 2; !names.insert(candidate).second; ++suffix) candidate = fmt::format("{}#{}", name, suffix);
  return candidate;
}

TensorId Insertions::add_tensor(std::string name, TensorType type, Role role) {
  return graph_.add_tensor({.name = unique(std::move(name), tensors_),
                            .type = std::move(type),
                            .role = role,
                            .producer = {},
                            .parameter = false,
                            .updates = {}});
}

void Insertions::add(std::size_t before, Node node) {
  node.name = unique(std::move(node.name), nodes_);
  added_[before].push_back(std::move(node));
}

void Insertions::take_back(const std::map<TensorId, TensorId>& made) {
  const auto redirect = [&](Node& node) {
    for (TensorId& id : node.inputs) {
      if (const auto found = made.find(id); found != made.end()) id = found->second;
    }
  };
  for (std::size_t i = 0; i < graph_.nodes().size(); ++i) redirect(graph_[NodeId(i)]);
  for (auto& nodes : added_) {
    std::erase_if(nodes, [&](const Node& node) { return made.contains(node.outputs[0]); });
    for (Node& node : nodes) redirect(node);
  }
  took_back_ = took_back_ || !made.empty();
}

Insertions::Reads Insertions::what_is_read() const {
  std::vector<std::int64_t> readers(graph_.tensors().size(), 0);
  const auto count = [&](const Node& node, std::int64_t by) {
    for (TensorId id : node.inputs) {
      if (id.valid()) readers[id.index()] += by;
    }
  };
  for (const Node& node : graph_.nodes()) count(node, 1);
  for (const auto& nodes : added_) {
    for (const Node& node : nodes) count(node, 1);
  }
  for (TensorId id : graph_.outputs) ++readers[id.index()];
  std::vector<bool> gone(graph_.nodes().size(), false);
  for (std::size_t i = gone.size(); i-- > 0;) {
    const Node& node = graph_.nodes()[i];
    if (node.op != Op::Cast && family_of(node.op) != OpFamily::view) continue;
    const bool unread = std::ranges::all_of(node.outputs, [&](TensorId id) {
      if (!id.valid()) return true;
      const bool lasts = graph_[id].updates.valid() || !was_read_[id.index()];
      return !lasts && readers[id.index()] == 0;
    });
    gone[i] = unread;
    if (unread) count(node, -1);
  }
  return {std::move(readers), std::move(gone)};
}

Graph Insertions::finish(std::vector<TensorId>& renumbered) {
  const std::vector<bool> gone = what_is_read().gone;
  std::vector<Node> nodes;
  for (std::size_t i = 0; i <= graph_.nodes().size(); ++i) {
    std::ranges::move(added_[i], std::back_inserter(nodes));
    if (i < gone.size() && !gone[i]) nodes.push_back(graph_.nodes()[i]);
  }
  graph_.set_nodes(std::move(nodes));
  if (took_back_ || std::ranges::find(gone, true) != gone.end()) return compact(std::move(graph_), &renumbered);
  renumbered.clear();
  for (std::size_t i = 0; i < graph_.tensors().size(); ++i) renumbered.emplace_back(i);
  return std::move(graph_);
}

}  // namespace monet::training
