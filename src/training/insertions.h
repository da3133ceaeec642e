// A graph to which nodes are added between those that it has. Until finish() the graph's own nodes keep their places.
#pragma once

#include "graph/graph.h"

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace monet::training {

class Insertions {
 public:
  explicit Insertions(Graph graph);

  const Graph& graph() const { return graph_; }
  // Types, roles and operands may be changed.
  Graph& edit() { return graph_; }

  // A tensor under that name, made unique. Nothing makes it yet.
  TensorId add_tensor(std::string name, TensorType type, Role role);
  // Puts a node before the one of that index, behind what was put there earlier. Its name is made unique.
  void add(std::size_t before, Node node);

  // How many nodes, added ones too, read each tensor; without those that finish() leaves out.
  std::vector<std::int64_t> readers() const { return what_is_read().readers; }
  // Takes back the added nodes that make these tensors first; who reads one of them now reads what stands beside it.
  void take_back(const std::map<TensorId, TensorId>& made);

  // The graph with the added nodes. Casts and views that were read and are no longer are left out; `renumbered`
  // receives the number of each tensor, not valid for theirs.
  Graph finish(std::vector<TensorId>& renumbered);

 private:
  std::string unique(std::string name, std::unordered_set<std::string>& names);

  struct Reads {
    std::vector<std::int64_t> readers;  // by tensor
    std::vector<bool> gone;             // by node of the graph: a cast or view of which nothing is needed
  };
  Reads what_is_read() const;

  Graph graph_;
  std::vector<std::vector<Node>> added_;     // by node before which they stand
  std::vector<bool> was_read_;               // by tensor that the graph had
  std::unordered_set<std::string> tensors_;  // names
  std::unordered_set<std::string> nodes_;
  bool took_back_ = false;
};

}  // namespace monet::training
