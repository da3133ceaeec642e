// Nodes of the graph that an eager framework runs together: what the graph spells in several operators and the
// framework has as one.
#pragma once

#include "graph/graph.h"

#include <vector>

namespace monet::lowering {

enum class Companion : std::uint8_t {
  none,
  bias,           // the addition of a bias to a product: runs in the product
  promotion,      // a cast of an operand of an elementwise operator: runs in that
  inverse_root,   // the root in 1 / √x
  mean_gradient,  // the division by the number of elements before an expansion
  norm_gradient,  // the other of the two gradients of a norm
  root_gradient,  // one of the six operators of the gradient of 1 / √x: run with the last of them
  split_part,     // the gradient of one of the slices that a tensor was cut into: joined with the others by their sum
  optimizer,      // an update of one parameter, or a scalar for it: run with the first update
  known,          // a value that does not change from step to step, or a cast of one
};

// Node `node` runs with `leader`, whose launch carries it.
struct Companionship {
  Companion kind = Companion::none;
  NodeId leader;
};

class Companions {
 public:
  explicit Companions(const Graph& graph);

  // What a node is to another one; none: it runs by itself.
  const Companionship& of(NodeId node) const { return of_[node.index()]; }
  // The nodes that a leader carries, in order.
  const std::vector<NodeId>& with(NodeId leader) const { return with_[leader.index()]; }

 private:
  void join(NodeId node, Companion kind, NodeId leader);
  void find_known(const Graph& graph);
  void find_biases(const Graph& graph, const Readers& readers);
  void find_promotions(const Graph& graph, const Readers& readers);
  void find_inverse_roots(const Graph& graph, const Readers& readers);
  void find_mean_gradients(const Graph& graph, const Readers& readers);
  void find_norm_gradients(const Graph& graph);
  void find_optimizers(const Graph& graph);
  void find_root_gradient(const Graph& graph, NodeId last);
  void find_split_gradients(const Graph& graph, const Readers& readers);

  std::vector<Companionship> of_;
  std::vector<std::vector<NodeId>> with_;
};

}  // namespace monet::lowering
