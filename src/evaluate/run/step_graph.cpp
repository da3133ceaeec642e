#include "evaluate/run/step_graph.h"

#include "evaluate/run/result.h"
#include "evaluate/run/step_graph_layout.h"
#include "graph/custom.h"
#include "training/recompute.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

std::vector<StepGraph::Node> nodes_of(const ScheduledStep& step, std::span<const NodeId> repeats) {
  const std::vector<std::int64_t> rows = operator_rows(step);
  const std::vector<NodePlace> places = node_places(step.graph, repeats);
  std::vector<StepGraph::Node> nodes;
  nodes.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Node& node = step.graph.nodes()[i];
    const OperatorAssignment& assigned = step.assignment.operators[i];
    nodes.push_back({.name = node.name,
                     .op = operator_type(node),
                     .phase = std::string(name_of(node.phase)),
                     .stack = assigned.cores.empty() ? -1 : static_cast<std::int64_t>(assigned.stack),
                     .recomputed = node.recomputed,
                     .x = static_cast<double>(places[i].x),
                     .y = static_cast<double>(places[i].y),
                     .operator_row = rows[i]});
  }
  return nodes;
}

StepGraph::Tensor tensor_of(const Graph& graph, TensorId id, std::span<const NodeId> readers) {
  const Tensor& tensor = graph[id];
  StepGraph::Tensor result{
      .name = tensor.name,
      .role = std::string(name_of(tensor.role)),
      .shape = fmt::format("{} {}", to_string(tensor.type.shape), name_of(tensor.type.format.element)),
      .bytes = bytes(tensor),
      .from = tensor.producer.valid() ? static_cast<std::int64_t>(tensor.producer.index()) : -1};
  for (const NodeId reader : readers) {
    const auto index = static_cast<std::int64_t>(reader.index());
    if (result.to.empty() || result.to.back() != index) result.to.push_back(index);
  }
  return result;
}

}  // namespace

StepGraph step_graph(const ScheduledStep& step, const RewrittenStep& rewritten) {
  const Graph& graph = step.graph;
  StepGraph result{.nodes = nodes_of(step, rewritten.repeats), .tensors = {}};
  std::vector<bool> kept(graph.tensors().size(), false), again(graph.tensors().size(), false);
  for (const training::SavedCandidate& saved : training::saved_candidates(graph)) kept[saved.tensor.index()] = true;
  for (const TensorId id : rewritten.recomputed) again[id.index()] = true;
  const Readers readers(graph);
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const TensorId id(i);
    if (!graph[id].producer.valid() && readers.of(id).empty()) continue;
    StepGraph::Tensor& tensor = result.tensors.emplace_back(tensor_of(graph, id, readers.of(id)));
    tensor.saved = kept[i] || again[i];
    const MemoryId paged = i < step.assignment.paged.size() ? step.assignment.paged[i] : MemoryId();
    if (again[i]) {
      tensor.decision = "recomputed";
    } else if (paged.valid()) {
      tensor.decision = fmt::format("paged to {}", step.hardware[paged].name);
    } else if (kept[i]) {
      tensor.decision = "kept";
    }
  }
  return result;
}

}  // namespace monet
