#include "training/repeatable.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::training {

Repeatable::Repeatable(const Graph& graph)
    : graph_(graph),
      read_later_(graph.tensors().size(), false),
      output_(graph.tensors().size(), false),
      first_reader_(graph.tensors().size(), never),
      replaced_at_(graph.tensors().size(), never),
      obstacles_(graph.tensors().size()) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.updates.valid() && tensor.producer.valid()) {
      replaced_at_[tensor.updates.index()] = tensor.producer.index();
    }
  }
  for (TensorId id : graph.outputs) output_[id.index()] = true;
  find_readers();
  find_obstacles();
}

bool Repeatable::is_made_forward(TensorId id) const {
  const NodeId producer = graph_[id].producer;
  return producer.valid() && graph_[producer].phase == Phase::forward;
}

bool Repeatable::is_view(TensorId id) const {
  return is_made_forward(id) && family_of(graph_[graph_[id].producer].op) == OpFamily::view;
}

bool Repeatable::is_there_anyway(TensorId id) const {
  return is_stored(id) && (output_[id.index()] || graph_[id].updates.valid());
}

bool Repeatable::reads_again(const Node& node, std::size_t input) {
  const bool statistic = node.op == Op::BatchNormalization && (input == 3 || input == 4);
  return !statistic || node.attributes.integer(Attr::training_mode) == 0;
}

TensorId Repeatable::kept_mask(const Node& node) const {
  if (node.op != Op::Dropout || node.outputs.size() < 2) return {};
  const TensorId mask = node.outputs[1];
  return mask.valid() && read_later_[mask.index()] ? mask : TensorId();
}

void Repeatable::find_readers() {
  for (std::size_t i = graph_.nodes().size(); i-- > 0;) {
    const Node& node = graph_.nodes()[i];
    if (node.phase != Phase::forward) {
      for (TensorId id : node.inputs) {
        if (!id.valid()) continue;
        read_later_[id.index()] = true;
        first_reader_[id.index()] = i;
      }
      continue;
    }
    if (family_of(node.op) != OpFamily::view) continue;
    for (TensorId to : node.outputs) {
      if (!to.valid()) continue;
      for (TensorId from : node.inputs) {
        if (output_[to.index()]) output_[from.index()] = true;
        if (read_later_[to.index()]) read_later_[from.index()] = true;
        first_reader_[from.index()] = std::min(first_reader_[from.index()], first_reader_[to.index()]);
      }
    }
  }
}

void Repeatable::find_obstacles() {
  for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
    const Node& node = graph_.nodes()[i];
    if (node.phase != Phase::forward) continue;
    const Obstacle obstacle = obstacle_of(node);
    const TensorId mask = kept_mask(node);
    for (TensorId id : node.outputs) {
      if (!id.valid()) continue;
      obstacles_[id.index()] = obstacle;
      if (is_random(node.op) && (id == mask || !mask.valid())) obstacles_[id.index()].random = NodeId(i);
    }
  }
}

Repeatable::Obstacle Repeatable::obstacle_of(const Node& node) const {
  Obstacle result;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (!id.valid() || !reads_again(node, i)) continue;
    const bool kept = !is_made_forward(id) || is_saved(id) || is_there_anyway(id);
    const Obstacle& behind = obstacles_[id.index()];
    if (!kept && behind.random.valid() && !result.random.valid()) result.random = behind.random;
    const std::size_t until = kept ? replaced_at_[id.index()] : behind.until;
    if (until < result.until) {
      result.until = until;
      result.replaced = kept ? id : behind.replaced;
    }
  }
  return result;
}

std::string Repeatable::reason(TensorId id) const {
  const Obstacle& obstacle = obstacles_[id.index()];
  if (obstacle.random.valid()) {
    const Node& node = graph_[obstacle.random];
    return fmt::format("it depends on '{}', and {} gives other values when it is run again", node.name,
                       name_of(node.op));
  }
  if (obstacle.until < first_reader_[id.index()]) {
    return fmt::format("it depends on '{}', which '{}' has replaced by the time it is needed",
                       graph_[obstacle.replaced].name, graph_.nodes()[obstacle.until].name);
  }
  return {};
}

}  // namespace monet::training
