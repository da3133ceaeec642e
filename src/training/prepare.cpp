#include "training/prepare.h"

#include "graph/builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::training {

namespace {

// Running statistics may be replaced: they come from outside, and nothing replaces them yet.
bool can_be_updated(const Graph& graph, TensorId id, const std::vector<bool>& updated) {
  return !graph[id].producer.valid() && graph[id].role == Role::statistic && !updated[id.index()];
}

}  // namespace

Graph in_training_mode(Graph graph, std::vector<std::string>& notes) {
  std::vector<bool> updated(graph.tensors().size(), false);
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.updates.valid()) updated[tensor.updates.index()] = true;
  }
  const auto is_norm = [](const Node& node) { return node.op == Op::BatchNormalization; };
  const bool keeps_statistics = std::ranges::find(updated, true) != updated.end();
  if (!keeps_statistics && std::ranges::none_of(graph.nodes(), is_norm)) return graph;
  GraphBuilder builder(std::move(graph));
  for (std::size_t i = 0; i < updated.size(); ++i) {
    const TensorId target = builder.graph().tensors()[i].updates;
    if (target.valid()) builder.rename(TensorId(i), builder.graph()[target].name + ".new");
  }
  std::size_t changed = 0;
  for (std::size_t i = 0; i < builder.graph().nodes().size(); ++i) {
    const NodeId id(i);
    if (!is_norm(builder.graph()[id])) continue;
    if (builder.graph()[id].attributes.integer(Attr::training_mode) == 0) {
      builder.edit()[id].attributes.set(Attr::training_mode, std::int64_t{1});
      ++changed;
    }
    for (const std::size_t statistic : {std::size_t{3}, std::size_t{4}}) {
      const TensorId running = builder.graph()[id].inputs[statistic];
      if (!can_be_updated(builder.graph(), running, updated)) continue;
      updated[running.index()] = true;
      const TensorId value = builder.want_output(id, statistic - 2);
      builder.update(running, value);
      builder.rename(value, builder.graph()[running].name + ".new");
    }
  }
  if (changed > 0) {
    notes.push_back(
        fmt::format("{} batch norms were written for inference; they train on the batch's statistics", changed));
  }
  return *builder.finish();
}

}  // namespace monet::training
