// Builds graphs in code, from nothing or on top of a graph: types are inferred, names made unique. The first mistake is
// kept and reported by finish(); after it every call is harmless.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <map>
#include <unordered_map>

namespace monet {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name);
  // Continues a graph: new nodes come after its nodes.
  explicit GraphBuilder(Graph graph);

  TensorId input(std::string name, Shape shape, ElementType type = ElementType::float32);
  // A trained tensor.
  TensorId parameter(std::string name, Shape shape, ElementType type = ElementType::float32);
  // A tensor that is kept between steps and not trained (running statistics).
  TensorId statistic(std::string name, Shape shape, ElementType type = ElementType::float32);
  // A tensor that is kept between steps for the optimizer.
  TensorId optimizer_state(std::string name, Shape shape, ElementType type = ElementType::float32);
  // A constant whose value is known.
  TensorId constant(std::string name, Constant value);
  // A constant without axes; equal ones are made once.
  TensorId scalar(ElementType type, double value);

  // The phase of the nodes and the role of the tensors that are made from here on.
  void set_phase(Phase phase, bool recomputed = false) {
    phase_ = phase;
    recomputed_ = recomputed;
  }
  Phase phase() const { return phase_; }
  void set_role(Role role) { role_ = role; }

  // The first output of a new node.
  TensorId add(Op op, std::string name, std::vector<TensorId> inputs, Attributes attributes = {});
  // All outputs that `wanted` asks for, from the first.
  std::vector<TensorId> add_many(Op op, std::string name, std::vector<TensorId> inputs, Attributes attributes,
                                 std::size_t wanted);
  // One output for each of `wanted`; not valid where it is false. The first is always made.
  std::vector<TensorId> add_some(Op op, std::string name, std::vector<TensorId> inputs, Attributes attributes,
                                 const std::vector<bool>& wanted);
  // Output `index` of a node that may not have had it so far.
  TensorId want_output(NodeId id, std::size_t index);
  void output(TensorId id);
  // The tensor that replaces the value of `target` when the step ends.
  void update(TensorId target, TensorId value);
  // Gives a tensor another name, made unique.
  void rename(TensorId id, std::string name);

  const Shape& shape(TensorId id) const { return graph_[id].type.shape; }
  ElementType type(TensorId id) const { return graph_[id].type.format.element; }
  const Graph& graph() const { return graph_; }
  // For passes that change nodes in place; names stay as they are.
  Graph& edit() { return graph_; }

  // Keeps the first mistake.
  void fail(Error error);
  bool failed() const { return error_.has_value(); }

  // The graph, or the first mistake. The builder is empty afterwards.
  Expected<Graph> finish();

 private:
  TensorId source(std::string name, Shape shape, ElementType type, Role role, bool parameter);
  std::string unique(std::string name);

  Graph graph_;
  std::unordered_map<std::string, int> names_;  // with the last suffix tried
  std::map<std::pair<ElementType, double>, TensorId> scalars_;
  Phase phase_ = Phase::forward;
  bool recomputed_ = false;
  Role role_ = Role::activation;
  std::optional<Error> error_;
};

}  // namespace monet
