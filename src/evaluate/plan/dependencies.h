// Which operators must run before which: views are looked through.
#pragma once

#include "graph/graph.h"

#include <span>
#include <vector>

namespace monet {

class Dependencies {
 public:
  // Cost: linear in what the operators read, views composed.
  explicit Dependencies(const Graph& graph);

  // The operators whose results `node` reads, and those that read what its outputs replace; each once, in order. A view
  // has none and is among none.
  std::span<const NodeId> before(NodeId node) const {
    return std::span(nodes_).subspan(first_[node.index()], first_[node.index() + 1] - first_[node.index()]);
  }
  bool is_view(NodeId node) const { return view_[node.index()]; }
  std::size_t nodes() const { return view_.size(); }

 private:
  std::vector<bool> view_;          // by node
  std::vector<std::size_t> first_;  // by node, and one more
  std::vector<NodeId> nodes_;
};

}  // namespace monet
