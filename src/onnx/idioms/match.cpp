#include "onnx/idioms/match.h"

#include "graph/infer.h"

#include <algorithm>
#include <cmath>

namespace monet::onnx {

const Node* Matcher::made_by(TensorId id, Op op) {
  if (!id.valid() || id.index() >= is_output_.size()) return nullptr;
  const NodeId producer = graph_[id].producer;
  if (!producer.valid() || graph_[producer].op != op || graph_[producer].outputs[0] != id) return nullptr;
  if (producer != root_ && std::ranges::find(inner_, producer) == inner_.end()) inner_.push_back(producer);
  return &graph_[producer];
}

std::optional<double> Matcher::scalar(TensorId id) const {
  const Constant* constant = graph_.constant(id);
  if (constant == nullptr || element_count(constant->shape) != 1) return std::nullopt;
  return constant->real_at(0);
}

bool Matcher::is_scalar(TensorId id, double value) const {
  const auto found = scalar(id);
  return found && std::abs(*found - value) <= 1e-3 * std::abs(value);
}

std::optional<Matcher::WithScalar> Matcher::with_scalar(const Node& node) const {
  for (std::size_t i = 0; i < 2; ++i) {
    if (const auto value = scalar(node.inputs[i])) return WithScalar{node.inputs[1 - i], *value};
  }
  return std::nullopt;
}

Product Matcher::product(TensorId id) {
  Product result;
  std::vector<TensorId> open = {id};
  // A product of more parts than this is no activation function.
  for (int steps = 0; !open.empty() && steps < 16; ++steps) {
    const TensorId part = open.back();
    open.pop_back();
    // A value that several nodes read is an operand of the function, not a step inside it.
    const bool step = part == id || only_reader(part).has_value();
    if (const auto value = scalar(part)) {
      result.coefficient *= *value;
    } else if (!step) {
      result.factors.push_back(part);
    } else if (const Node* multiplied = made_by(part, Op::Mul)) {
      open.insert(open.end(), {multiplied->inputs[1], multiplied->inputs[0]});
    } else if (const Node* divided = made_by(part, Op::Div); divided != nullptr && scalar(divided->inputs[1])) {
      result.coefficient /= *scalar(divided->inputs[1]);
      open.push_back(divided->inputs[0]);
    } else if (const Node* power = made_by(part, Op::Pow);
               power != nullptr && (is_scalar(power->inputs[1], 2) || is_scalar(power->inputs[1], 3))) {
      const auto exponent = static_cast<std::size_t>(std::lround(*scalar(power->inputs[1])));
      open.insert(open.end(), exponent, power->inputs[0]);
    } else {
      result.factors.push_back(part);
    }
  }
  result.factors.insert(result.factors.end(), open.begin(), open.end());
  return result;
}

std::optional<NodeId> Matcher::only_reader(TensorId id) const {
  const auto readers = readers_.of(id);
  if (readers.size() != 1 || is_output_[id.index()]) return std::nullopt;
  return readers.front();
}

std::optional<Matcher::Combination> Matcher::root_combined_by(Op op) const {
  const TensorId value = graph_[root_].outputs[0];
  const auto reader = only_reader(value);
  if (!reader || graph_[*reader].op != op) return std::nullopt;
  const Node& node = graph_[*reader];
  return Combination{*reader, node.inputs[0] == value ? node.inputs[1] : node.inputs[0]};
}

void Matcher::begin(NodeId root) {
  root_ = root;
  inner_.clear();
  before.clear();
}

void Matcher::extend(NodeId reader) {
  inner_.push_back(root_);
  root_ = reader;
}

// Constants of one element may have axes of their own, which the product of everything with them has too.
bool Matcher::makes_the_same(Op op, const std::vector<TensorId>& inputs, const Attributes& attributes,
                             const Node& root) const {
  std::vector<const TensorType*> types;
  for (TensorId id : inputs) types.push_back(id.valid() ? &graph_[id].type : nullptr);
  const auto outputs = infer({.op = op, .attributes = attributes, .inputs = types});
  return outputs && root.outputs.size() == 1 && outputs->front().shape == shape(root.outputs[0]);
}

std::string Matcher::unused_name(std::string name) {
  if (names_.empty()) {
    for (const Tensor& tensor : graph_.tensors()) names_.insert(tensor.name);
    for (const Node& node : graph_.nodes()) names_.insert(node.name);
  }
  while (!names_.insert(name).second) name += "#";
  return name;
}

std::optional<Match> Matcher::finish(Op op, std::vector<TensorId> inputs, Attributes attributes) {
  std::vector<TensorId> boundary = inputs;
  for (const Node& helper : before) boundary.insert(boundary.end(), helper.inputs.begin(), helper.inputs.end());
  const auto contains = [](const auto& list, auto id) { return std::ranges::find(list, id) != list.end(); };

  // Looking at a node remembers it, also where the pattern turned out to end before it. What belongs to it are the
  // nodes that lead only to the root, short of the pattern's inputs.
  std::ranges::sort(inner_);
  std::vector<NodeId> kept;
  for (std::size_t i = inner_.size(); i-- > 0;) {
    const bool inside = std::ranges::all_of(graph_[inner_[i]].outputs, [&](TensorId id) {
      if (!id.valid()) return true;
      if (is_output_[id.index()] || contains(boundary, id)) return false;
      return std::ranges::all_of(readers_.of(id),
                                 [&](NodeId reader) { return reader == root_ || contains(kept, reader); });
    });
    if (inside) kept.push_back(inner_[i]);
  }
  // Closed: everything that it reads is made inside it, an input, or comes from outside the step.
  const auto closed = [&](NodeId node) {
    return std::ranges::all_of(graph_[node].inputs, [&](TensorId id) {
      return !id.valid() || contains(boundary, id) || !graph_[id].producer.valid() ||
             contains(kept, graph_[id].producer);
    });
  };
  if (!closed(root_) || !std::ranges::all_of(kept, closed)) return std::nullopt;

  const Node& root = graph_[root_];
  if (!makes_the_same(op, inputs, attributes, root)) return std::nullopt;
  return Match{.root = root_,
               .inner = std::move(kept),
               .before = std::move(before),
               .replacement = {.name = root.name,
                               .op = op,
                               .phase = root.phase,
                               .attributes = std::move(attributes),
                               .inputs = std::move(inputs),
                               .outputs = root.outputs}};
}

}  // namespace monet::onnx
