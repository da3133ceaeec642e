#include "evaluate/plan/dependencies.h"

#include <algorithm>

namespace monet {

namespace {

// Calls `visit` with every stored tensor behind the inputs of a node, each once.
class StoredInputs {
 public:
  explicit StoredInputs(const Graph& graph) : graph_(graph), seen_(graph.tensors().size()) {}

  template <class Visit>
  void for_each(NodeId node, const Visit& visit) {
    open_ = graph_[node].inputs;
    while (!open_.empty()) {
      const TensorId id = open_.back();
      open_.pop_back();
      if (!id.valid() || seen_[id.index()] == node) continue;
      seen_[id.index()] = node;
      const NodeId producer = graph_[id].producer;
      if (producer.valid() && family_of(graph_[producer].op) == OpFamily::view) {
        open_.insert(open_.end(), graph_[producer].inputs.begin(), graph_[producer].inputs.end());
      } else {
        visit(id);
      }
    }
  }

 private:
  const Graph& graph_;
  std::vector<NodeId> seen_;  // by tensor: the last node for which it was met
  std::vector<TensorId> open_;
};

}  // namespace

Dependencies::Dependencies(const Graph& graph) {
  std::vector<NodeId> replacer(graph.tensors().size());
  for (const Tensor& tensor : graph.tensors()) {
    // What a view gives as a new value is stored elsewhere: the old one stays as it is.
    if (!tensor.updates.valid() || family_of(graph[tensor.producer].op) == OpFamily::view) continue;
    replacer[tensor.updates.index()] = tensor.producer;
  }
  std::vector<std::pair<NodeId, NodeId>> edges;  // to, from
  StoredInputs stored(graph);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const NodeId node(i);
    view_.push_back(family_of(graph[node].op) == OpFamily::view);
    if (view_.back()) continue;
    stored.for_each(node, [&](TensorId id) {
      if (graph[id].producer.valid()) edges.emplace_back(node, graph[id].producer);
      const NodeId after = replacer[id.index()];
      if (after.valid() && after != node) edges.emplace_back(after, node);
    });
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  first_.assign(view_.size() + 1, 0);
  for (const auto& [to, from] : edges) {
    ++first_[to.index() + 1];
    nodes_.push_back(from);
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

}  // namespace monet
