#include "onnx/own_notes.h"

#include <algorithm>
#include <unordered_map>

namespace monet::onnx {

namespace {

using Notes = std::vector<std::pair<Text, Text>>;

Text note(const Notes& notes, Text key) {
  const auto found = std::ranges::find(notes, key, &std::pair<Text, Text>::first);
  return found == notes.end() ? Text() : found->second;
}

template <class Kind>
Kind named(Text name, std::size_t count, Kind otherwise) {
  for (std::size_t i = 0; i < count; ++i) {
    if (name_of(static_cast<Kind>(i)) == name) return static_cast<Kind>(i);
  }
  return otherwise;
}

// By what each node of the file makes: several nodes may have been read from one.
void apply_phases(const FlatModel& model, Graph& graph, const std::unordered_map<Text, TensorId>& tensors) {
  for (const FlatNode& flat : model.nodes) {
    const Phase phase = named(note(flat.node.metadata, phase_key), phase_count, Phase::forward);
    const bool recomputed = phase == Phase::backward && note(flat.node.metadata, recomputed_key) == "true";
    for (Text output : flat.node.outputs) {
      const auto made = tensors.find(output);
      if (made == tensors.end() || !graph[made->second].producer.valid()) continue;
      Node& node = graph[graph[made->second].producer];
      node.phase = phase;
      node.recomputed = recomputed;
    }
  }
}

using Positions = std::vector<std::size_t>;  // of the last node that reads each tensor; 0 where none does

Positions last_readers(const Graph& graph) {
  Positions last(graph.tensors().size(), 0);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    for (TensorId id : graph.nodes()[i].inputs) {
      if (id.valid()) last[id.index()] = i;
    }
  }
  return last;
}

// A note that cannot be true is ignored: each tensor is replaced once, by its like, and not read afterwards.
void apply_update(Graph& graph, TensorId id, TensorId target, Positions& last_reader) {
  constexpr std::size_t never = static_cast<std::size_t>(-1);
  const Tensor& tensor = graph[id];
  const Tensor& replaced = graph[target];
  if (!tensor.producer.valid() || replaced.producer.valid() || replaced.type != tensor.type) return;
  if (last_reader[target.index()] > tensor.producer.index()) return;
  last_reader[target.index()] = never;
  graph[id].updates = target;
}

}  // namespace

bool has_own_notes(const RawModel& model) { return model.producer == own_producer; }

bool apply_own_notes(const FlatModel& model, Graph& graph) {
  std::unordered_map<Text, TensorId> tensors;
  tensors.reserve(graph.tensors().size());
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) tensors.emplace(graph.tensors()[i].name, TensorId(i));
  apply_phases(model, graph, tensors);
  Positions last_reader = last_readers(graph);
  const RawGraph& raw = model.raw->graph;
  for (const auto* values : {&raw.inputs, &raw.outputs, &raw.inner_values}) {
    for (const RawValue& value : *values) {
      const auto found = tensors.find(value.name);
      if (found == tensors.end()) continue;
      Tensor& tensor = graph[found->second];
      tensor.role = named(note(value.metadata, role_key), role_count, Role::activation);
      tensor.parameter = !tensor.producer.valid() && note(value.metadata, parameter_key) == "true";
      const auto target = tensors.find(note(value.metadata, updates_key));
      if (target != tensors.end()) apply_update(graph, found->second, target->second, last_reader);
    }
  }
  std::erase_if(graph.inputs, [&](TensorId id) { return graph[id].role != Role::input; });
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.phase != Phase::forward; });
}

}  // namespace monet::onnx
