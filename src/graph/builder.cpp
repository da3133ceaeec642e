#include "graph/builder.h"

#include "base/require.h"
#include "graph/infer.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

GraphBuilder::GraphBuilder(std::string name) { graph_.name = std::move(name); }

GraphBuilder::GraphBuilder(Graph graph) : graph_(std::move(graph)) {
  names_.reserve(2 * (graph_.tensors().size() + graph_.nodes().size()));
  for (const Tensor& tensor : graph_.tensors()) names_.emplace(tensor.name, 1);
  for (const Node& node : graph_.nodes()) names_.emplace(node.name, 1);
}

std::string GraphBuilder::unique(std::string name) {
  const auto [entry, fresh] = names_.emplace(name, 1);
  if (fresh) return name;
  // Inserting may move the table's buckets but not its entries, so `suffix` stays.
  for (int& suffix = entry->second;;) {
    std::string candidate = fmt::format("{}#{}", name, ++suffix);
    if (names_.emplace(candidate, 1).second) return candidate;
  }
}

void GraphBuilder::fail(Error error) {
  if (!error_) error_ = std::move(error);
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

TensorId GraphBuilder::optimizer_state(std::string name, Shape shape, ElementType type) {
  return source(std::move(name), std::move(shape), type, Role::optimizer_state, false);
}

TensorId GraphBuilder::constant(std::string name, Constant value) {
  const TensorId id = source(std::move(name), value.shape, value.type, Role::constant, false);
  graph_.constants.emplace(id, std::move(value));
  return id;
}

TensorId GraphBuilder::scalar(ElementType type, double value) {
  const auto [entry, fresh] = scalars_.try_emplace({type, value});
  if (fresh) {
    const bool real = is_floating(type);
    Constant constant =
        real ? Constant::reals(type, {}, {value}) : Constant::integers(type, {}, {static_cast<std::int64_t>(value)});
    entry->second = this->constant(fmt::format("{}:{}", name_of(type), value), std::move(constant));
  }
  return entry->second;
}

TensorId GraphBuilder::add(Op op, std::string name, std::vector<TensorId> inputs, Attributes attributes) {
  return add_some(op, std::move(name), std::move(inputs), std::move(attributes), {true}).front();
}

std::vector<TensorId> GraphBuilder::add_many(Op op, std::string name, std::vector<TensorId> inputs,
                                             Attributes attributes, std::size_t wanted) {
  return add_some(op, std::move(name), std::move(inputs), std::move(attributes), std::vector<bool>(wanted, true));
}

std::vector<TensorId> GraphBuilder::add_some(Op op, std::string name, std::vector<TensorId> inputs,
                                             Attributes attributes, const std::vector<bool>& wanted) {
  std::vector<const TensorType*> types;
  for (TensorId id : inputs) types.push_back(id.valid() ? &graph_[id].type : nullptr);
  auto inferred = infer({.op = op, .attributes = attributes, .inputs = types});
  if (!inferred && !error_) {
    error_ = inferred.error();
    error_->place = fmt::format("node '{}'", name);
  }
  if (inferred && wanted.size() > inferred->size()) {
    fail({.message = fmt::format("{} has {} outputs, and {} are wanted", name_of(op), inferred->size(), wanted.size()),
          .place = fmt::format("node '{}'", name),
          .advice = {}});
  }
  const bool sound = !error_;
  Node node{.name = unique(std::move(name)),
            .op = op,
            .phase = phase_,
            .recomputed = recomputed_,
            .attributes = std::move(attributes),
            .inputs = std::move(inputs),
            .outputs = {}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i > 0 && !wanted[i]) {
      node.outputs.emplace_back();
      continue;
    }
    const std::string output_name = i == 0 ? node.name + ".out" : fmt::format("{}.out{}", node.name, i);
    node.outputs.push_back(graph_.add_tensor({.name = unique(output_name),
                                              .type = sound ? (*inferred)[i] : TensorType{{1}, {}},
                                              .role = role_,
                                              .producer = {},
                                              .parameter = false,
                                              .updates = {}}));
  }
  while (!node.outputs.back().valid()) node.outputs.pop_back();
  std::vector<TensorId> outputs = node.outputs;
  outputs.resize(wanted.size());
  if (sound) graph_.add_node(std::move(node));
  return outputs;
}

TensorId GraphBuilder::want_output(NodeId id, std::size_t index) {
  if (index < graph_[id].outputs.size() && graph_[id].outputs[index].valid()) return graph_[id].outputs[index];
  std::vector<const TensorType*> types;
  for (TensorId input : graph_[id].inputs) types.push_back(input.valid() ? &graph_[input].type : nullptr);
  const auto inferred = infer({.op = graph_[id].op, .attributes = graph_[id].attributes, .inputs = types});
  MONET_REQUIRE(inferred.has_value() && index < inferred->size());
  const TensorId output = graph_.add_tensor({.name = unique(fmt::format("{}.out{}", graph_[id].name, index)),
                                             .type = (*inferred)[index],
                                             .role = Role::activation,
                                             .producer = id,
                                             .parameter = false,
                                             .updates = {}});
  Node& node = graph_[id];
  if (node.outputs.size() <= index) node.outputs.resize(index + 1);
  node.outputs[index] = output;
  return output;
}

void GraphBuilder::rename(TensorId id, std::string name) {
  if (graph_[id].name == name) return;
  names_.erase(graph_[id].name);
  graph_[id].name = unique(std::move(name));
}

void GraphBuilder::output(TensorId id) { graph_.outputs.push_back(id); }

void GraphBuilder::update(TensorId target, TensorId value) {
  graph_[value].updates = target;
  graph_[value].role = graph_[target].role;
}

Expected<Graph> GraphBuilder::finish() {
  names_.clear();
  scalars_.clear();
  Graph graph = std::exchange(graph_, Graph{});
  if (error_) return *std::exchange(error_, std::nullopt);
  return graph;
}

}  // namespace monet
