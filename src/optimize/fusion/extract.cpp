#include "optimize/fusion/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace monet::fusion {

namespace {

class Extracting {
 public:
  Extracting(const Graph& graph, const Readers& readers, std::span<const NodeId> nodes)
      : from_(graph), readers_(readers), nodes_(nodes), inside_(nodes.begin(), nodes.end()) {
    outputs_.insert(graph.outputs.begin(), graph.outputs.end());
  }

  Extracted run() {
    for (NodeId id : nodes_) result_.nodes.push_back(copy(id));
    for (NodeId id : nodes_) {
      for (TensorId made : from_[id].outputs) {
        if (!made.valid()) continue;
        if (leaves(made)) result_.graph.outputs.push_back(now_.at(made));
        const TensorId updates = from_[made].updates;
        if (!updates.valid()) continue;
        if (const auto known = now_.find(updates); known != now_.end()) {
          result_.graph[now_.at(made)].updates = known->second;
        }
      }
    }
    return std::move(result_);
  }

 private:
  bool is_view(NodeId id) const { return family_of(from_[id].op) == OpFamily::view; }

  NodeId copy(NodeId id) {
    const Node& node = from_[id];
    Node made{.name = fmt::format("n{}", result_.graph.nodes().size()),
              .op = node.op,
              .phase = Phase::forward,
              .attributes = node.attributes,
              .inputs = {},
              .outputs = {}};
    for (TensorId input : node.inputs) made.inputs.push_back(input.valid() ? tensor(input) : TensorId());
    for (TensorId output : node.outputs) made.outputs.push_back(output.valid() ? add(output) : TensorId());
    made.name = fmt::format("n{}", result_.graph.nodes().size());
    return result_.graph.add_node(std::move(made));
  }

  TensorId add(TensorId id) {
    Tensor tensor = from_[id];
    tensor.name = fmt::format("t{}", result_.graph.tensors().size());
    tensor.producer = {};
    tensor.updates = {};
    const TensorId made = result_.graph.add_tensor(std::move(tensor));
    if (const Constant* value = from_.constant(id)) result_.graph.constants.emplace(made, *value);
    now_.emplace(id, made);
    return made;
  }

  // A tensor that is read: views and all that they are views of come along.
  TensorId tensor(TensorId id) {
    if (const auto known = now_.find(id); known != now_.end()) return known->second;
    const NodeId maker = from_[id].producer;
    if (maker.valid() && is_view(maker)) {
      copy(maker);
      return now_.at(id);
    }
    const TensorId made = add(id);
    const Role role = from_[id].role;
    if (role == Role::input || role == Role::activation || role == Role::gradient || role == Role::weight_gradient)
      result_.graph.inputs.push_back(made);
    return made;
  }

  // Whether something outside needs it, itself or through views.
  bool leaves(TensorId id) const {
    if (outputs_.contains(id) || from_[id].updates.valid()) return true;
    return std::ranges::any_of(readers_.of(id), [&](NodeId reader) {
      if (!is_view(reader)) return !inside_.contains(reader);
      return std::ranges::any_of(from_[reader].outputs, [&](TensorId view) { return view.valid() && leaves(view); });
    });
  }

  const Graph& from_;
  const Readers& readers_;
  std::span<const NodeId> nodes_;
  std::unordered_set<NodeId> inside_;
  std::unordered_set<TensorId> outputs_;
  std::unordered_map<TensorId, TensorId> now_;
  Extracted result_;
};

}  // namespace

Extracted extract(const Graph& graph, const Readers& readers, std::span<const NodeId> nodes) {
  return Extracting(graph, readers, nodes).run();
}

}  // namespace monet::fusion
