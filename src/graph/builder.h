// Builds graphs in code: types are inferred, names made unique. The first mistake is kept and reported by finish();
// after it every call is harmless.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <unordered_set>

namespace monet {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name);

  TensorId input(std::string name, Shape shape, ElementType type = ElementType::float32);
  // A trained tensor.
  TensorId parameter(std::string name, Shape shape, ElementType type = ElementType::float32);
  // A tensor that is kept between steps and not trained (running statistics).
  TensorId statistic(std::string name, Shape shape, ElementType type = ElementType::float32);
  // A constant whose value is known.
  TensorId constant(std::string name, Constant value);

  // The first output of a new node.
  TensorId add(Op op, std::string name, std::vector<TensorId> inputs, Attributes attributes = {});
  // All outputs that `wanted` asks for, from the first.
  std::vector<TensorId> add_many(Op op, std::string name, std::vector<TensorId> inputs, Attributes attributes,
                                 std::size_t wanted);
  void output(TensorId id);
  // The tensor that replaces the value of `target` when the step ends.
  void update(TensorId target, TensorId value);

  const Shape& shape(TensorId id) const;
  const Graph& graph() const { return graph_; }

  // The graph, or the first mistake. The builder is empty afterwards.
  Expected<Graph> finish();

 private:
  TensorId source(std::string name, Shape shape, ElementType type, Role role, bool parameter);
  std::string unique(std::string name);

  Graph graph_;
  std::unordered_set<std::string> names_;
  std::optional<Error> error_;
};

}  // namespace monet
