#include "graph/builder.h"

#include "graph/infer.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

GraphBuilder::GraphBuilder(std::string name) { graph_.name = std::move(name); }

std::string GraphBuilder::unique(std::string name) {
  std::string candidate = name;
  for (int suffix = 2; !names_.insert(candidate).second; ++suffix) candidate = fmt::format("{}#{}", name, suffix);
  return candidate;
}

TensorId GraphBuilder::source(std::string name, Shape shape, ElementType type, Role role, bool parameter) {
  const std::string reason = impossible_shape(shape);
  const bool fits = reason.empty();
  if (!fits && !error_) {
    error_ = Error{.message = fmt::format("a tensor of {} is impossible: {}", to_string(shape), reason),
                   .place = name,
                   .advice = "choose smaller, positive sizes"};
  }
  if (!fits) shape = {1};
  return graph_.add_tensor({.name = unique(std::move(name)),
                            .type = {std::move(shape), {.element = type}},
                            .role = role,
                            .producer = {},
                            .parameter = parameter,
                            .updates = {}});
}

TensorId GraphBuilder::input(std::string name, Shape shape, ElementType type) {
  const TensorId id = source(std::move(name), std::move(shape), type, Role::input, false);
  graph_.inputs.push_back(id);
  return id;
}

TensorId GraphBuilder::parameter(std::string name, Shape shape, ElementType type) {
  return source(std::move(name), std::move(shape), type, Role::weight, true);
}

TensorId GraphBuilder::statistic(std::string name, Shape shape, ElementType type) {
  return source(std::move(name), std::move(shape), type, Role::statistic, false);
}

TensorId GraphBuilder::constant(std::string name, Constant value) {
  const TensorId id = source(std::move(name), value.shape, value.type, Role::constant, false);
  graph_.constants.emplace(id, std::move(value));
  return id;
}

TensorId GraphBuilder::add(Op op, std::string name, std::vector<TensorId> inputs, Attributes attributes) {
  return add_many(op, std::move(name), std::move(inputs), std::move(attributes), 1).front();
}

std::vector<TensorId> GraphBuilder::add_many(Op op, std::string name, std::vector<TensorId> inputs,
                                             Attributes attributes, std::size_t wanted) {
  std::vector<const TensorType*> types;
  for (TensorId id : inputs) types.push_back(id.valid() ? &graph_[id].type : nullptr);
  auto inferred = infer({.op = op, .attributes = attributes, .inputs = types});
  if (!inferred && !error_) {
    error_ = inferred.error();
    error_->place = fmt::format("node '{}'", name);
  }
  if (inferred && wanted > inferred->size() && !error_) {
    error_ =
        Error{.message = fmt::format("{} has {} outputs, and {} are wanted", name_of(op), inferred->size(), wanted),
              .place = fmt::format("node '{}'", name),
              .advice = {}};
  }
  const bool sound = !error_;
  Node node{.name = unique(name),
            .op = op,
            .phase = Phase::forward,
            .attributes = std::move(attributes),
            .inputs = std::move(inputs),
            .outputs = {}};
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::string output_name = i == 0 ? node.name + ".out" : fmt::format("{}.out{}", node.name, i);
    node.outputs.push_back(graph_.add_tensor({.name = unique(output_name),
                                              .type = sound ? (*inferred)[i] : TensorType{{1}, {}},
                                              .role = Role::activation,
                                              .producer = {},
                                              .parameter = false,
                                              .updates = {}}));
  }
  std::vector<TensorId> outputs = node.outputs;
  if (sound) graph_.add_node(std::move(node));
  return outputs;
}

void GraphBuilder::output(TensorId id) { graph_.outputs.push_back(id); }

void GraphBuilder::update(TensorId target, TensorId value) {
  graph_[value].updates = target;
  graph_[value].role = graph_[target].role;
}

const Shape& GraphBuilder::shape(TensorId id) const { return graph_[id].type.shape; }

Expected<Graph> GraphBuilder::finish() {
  names_.clear();
  Graph graph = std::exchange(graph_, Graph{});
  if (error_) return *std::exchange(error_, std::nullopt);
  return graph;
}

}  // namespace monet
