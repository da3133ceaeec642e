// What the patterns share: looking backwards from a value, and stating what a match replaces.
#pragma once

#include "graph/graph.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace monet::onnx {

// A spelt-out operator that was found. `root` makes the final value; it is replaced by `replacement`, which takes over
// root's outputs, and by `before`, put in front of it. `inner` are the other nodes of the pattern.
struct Match {
  NodeId root;
  std::vector<NodeId> inner;
  std::vector<Node> before;
  Node replacement;
};

// coefficient * product of factors
struct Product {
  double coefficient = 1;
  std::vector<TensorId> factors;
};

class Matcher {
 public:
  explicit Matcher(Graph& graph) : graph_(graph), readers_(graph), is_output_(graph.tensors().size(), false) {
    for (TensorId id : graph.outputs) is_output_[id.index()] = true;
  }

  Graph& graph() { return graph_; }
  const Shape& shape(TensorId id) const { return graph_[id].type.shape; }

  // The node that makes `id` if it is of kind `op`; else null. Remembers it as part of the pattern being matched.
  const Node* made_by(TensorId id, Op op);
  // The single value of a constant.
  std::optional<double> scalar(TensorId id) const;
  bool is_scalar(TensorId id, double value) const;
  // `a op b` in either order where one side is a scalar: the other side and the scalar.
  struct WithScalar {
    TensorId value;
    double scalar;
  };
  std::optional<WithScalar> with_scalar(const Node& node) const;
  // `id` taken apart at Mul, Div by a scalar, and Pow by 2 or 3.
  Product product(TensorId id);
  // The only node that reads `id`, unless it is an output of the graph.
  std::optional<NodeId> only_reader(TensorId id) const;
  // The only reader of the root's value if it is a binary `op`, and what it combines that value with.
  struct Combination {
    NodeId reader;
    TensorId other;
  };
  std::optional<Combination> root_combined_by(Op op) const;

  // Starts a new pattern at `root`.
  void begin(NodeId root);
  // The pattern, if nothing outside it reads its inner values.
  std::optional<Match> finish(Op op, std::vector<TensorId> inputs, Attributes attributes);
  // Moves the root on to a reader, keeping the old one as inner.
  void extend(NodeId reader);
  NodeId root() const { return root_; }
  // `name`, or one like it that no tensor and no node has.
  std::string unused_name(std::string name);
  std::vector<Node> before;  // helpers that finish() hands over

 private:
  bool makes_the_same(Op op, const std::vector<TensorId>& inputs, const Attributes& attributes, const Node& root) const;

  Graph& graph_;
  Readers readers_;
  std::vector<bool> is_output_;
  NodeId root_;
  std::vector<NodeId> inner_;
  std::unordered_set<std::string> names_;  // filled when first asked
};

// Each gives a match that ends at (or, for norms, starts from) `node`, or nothing.
std::optional<Match> match_activation(Matcher& matcher, NodeId node);
std::optional<Match> match_norm(Matcher& matcher, NodeId id);
std::optional<Match> match_group_norm(Matcher& matcher, NodeId id);
std::optional<Match> match_attention(Matcher& matcher, NodeId id);

}  // namespace monet::onnx
