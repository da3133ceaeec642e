// Which elements of a step one of its elements depends on, and which depend on it, from the loops of its operators.
// Both are told from below: what is named is surely among them, whatever plan is made of the step.
#pragma once

#include "evaluate/tiles/views.h"
#include "graph/graph.h"
#include "graph/nests.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace monet {

// Elements of a tensor: all positions along the axes of which `whole` has a bit, one position along each other.
struct Swath {
  std::uint32_t whole = 0;
};
using Swaths = std::vector<std::optional<Swath>>;  // by tensor; nothing: no element is known

bool is_whole(const Swath& swath, const Shape& shape);
std::int64_t elements_of(const Swath& swath, const Shape& shape);

class Dependence {
 public:
  // Cost: linear in nodes. The graph must outlive it.
  explicit Dependence(const Graph& graph);

  // Of one element of the first output of `node`; of stored tensors, no views. Linear in nodes.
  Swaths needed_for(NodeId node) const;
  Swaths that_need(NodeId node) const;

  // No iteration of a nest of `node` can run without an element of `stored`, so no tile of it can.
  bool always_needs(NodeId node, const Swaths& stored) const;
  // The stored tensors behind the inputs of a node, each as often as it is read.
  std::vector<TensorId> read_by(NodeId node) const;
  // All of a tensor is read by a node whose outputs are all wanted.
  bool reads_whole(NodeId node, TensorId tensor) const;

 private:
  using Leaves = std::vector<tiling::Leaf>;
  struct Operands {  // of one node, while its nests are walked
    Swaths inputs, outputs, scratch;
  };

  Operands operands_of(NodeId node) const;
  // What an input of a node, which may be a view, has of them.
  std::optional<Swath> seen_by(NodeId node, std::size_t input, const Swaths& stored) const;
  std::optional<Swath>* find(Operands& operands, const Access& access) const;
  const Shape& shape_of(NodeId node, const Access& access) const;
  void walk_back(NodeId node, Operands& operands) const;
  void walk_on(NodeId node, Operands& operands) const;

  const Graph& graph_;
  std::vector<OperatorNests> nests_;         // by node; a view has none
  std::vector<std::vector<Leaves>> leaves_;  // by node and input
};

}  // namespace monet
