#include "networks/inspection.h"

#include "base/require.h"
#include "base/try.h"
#include "graph/custom.h"
#include "graph/nests.h"
#include "networks/open.h"

#include <monet/inspect.h>

#include <algorithm>
#include <map>

namespace monet {

namespace {

std::int64_t& of(ByPhase& by_phase, Phase phase) {
  switch (phase) {
    case Phase::forward: return by_phase.forward;
    case Phase::backward: return by_phase.backward;
    case Phase::optimizer: break;
  }
  return by_phase.optimizer;
}

TensorSummary summary_of(const Tensor& tensor) {
  return {tensor.name, tensor.type.shape, std::string(name_of(tensor.type.format.element)),
          std::string(name_of(tensor.role))};
}

OperationCounts occurring(const Counts& counts) {
  OperationCounts result;
  for (std::size_t i = 0; i < count_kinds; ++i) {
    if (counts.of[i] != 0) result.emplace_back(name_of(static_cast<Count>(i)), counts.of[i]);
  }
  return result;
}

std::vector<std::vector<std::pair<Dim, std::int64_t>>> loops_of(const OperatorNests& nests) {
  std::vector<std::vector<std::pair<Dim, std::int64_t>>> all;
  for (const Nest& nest : nests.nests) {
    auto& loops = all.emplace_back();
    for (const Loop& loop : nest.loops) loops.emplace_back(loop.name, loop.size);
  }
  return all;
}

// Parameters that no earlier layer has read.
std::int64_t new_parameters(const Graph& graph, const Node& node, std::vector<bool>& seen) {
  std::int64_t count = 0;
  for (TensorId id : node.inputs) {
    if (!id.valid() || !graph[id].parameter || seen[id.index()]) continue;
    seen[id.index()] = true;
    count += element_count(graph[id].type.shape);
  }
  return count;
}

bool is_view(const Node& node) { return family_of(node.op) == OpFamily::view; }

void add_bytes_by_role(const Graph& graph, Inspection& inspection) {
  std::array<std::int64_t, role_count> totals{};
  for (const Tensor& tensor : graph.tensors()) {
    const bool shares_storage = (tensor.producer.valid() && is_view(graph[tensor.producer])) || tensor.updates.valid();
    if (!shares_storage) totals[static_cast<std::size_t>(tensor.role)] += bytes(tensor);
  }
  for (std::size_t i = 0; i < role_count; ++i) {
    if (totals[i] > 0) inspection.bytes_by_role.emplace_back(name_of(static_cast<Role>(i)), totals[i]);
  }
}

void sort_operators(std::map<std::string, OperatorSummary>& by_name, Inspection& inspection) {
  for (auto& [name, row] : by_name) inspection.operators.push_back(std::move(row));
  std::ranges::stable_sort(inspection.operators, [](const OperatorSummary& a, const OperatorSummary& b) {
    return std::pair(a.macs, a.other_operations) > std::pair(b.macs, b.other_operations);
  });
}

}  // namespace

Expected<Inspection> inspect(const Network& network, const NetworkOptions& options) {
  MONET_TRY(const std::shared_ptr<const NetworkGraph> read, network.graph(read_options(options)));
  return inspection_of(network.name(), *read);
}

Inspection inspection_of(const std::string& model, const NetworkGraph& network) {
  const Graph& graph = network.graph;
  Inspection inspection;
  inspection.model = model;
  inspection.is_training_step = network.is_training_step;
  inspection.warnings = network.warnings;
  inspection.notes = network.notes;
  for (TensorId id : graph.inputs) inspection.inputs.push_back(summary_of(graph[id]));
  for (TensorId id : graph.outputs) inspection.outputs.push_back(summary_of(graph[id]));
  for (const Tensor& tensor : graph.tensors()) {
    if (!tensor.parameter) continue;
    ++inspection.parameter_tensors;
    inspection.parameters += element_count(tensor.type.shape);
  }

  Counts total;
  std::vector<bool> seen(graph.tensors().size(), false);
  std::map<std::string, OperatorSummary> by_name;
  for (const Node& node : graph.nodes()) {
    const OperatorNests nests = nests_of(site_of(graph, node));
    const auto counts = operation_counts(nests);
    MONET_REQUIRE(counts.has_value());  // verify() has counted them
    LayerSummary layer{.name = node.name,
                       .op = operator_type(node),
                       .phase = std::string(name_of(node.phase)),
                       .inputs = {},
                       .outputs = {},
                       .nests = loops_of(nests),
                       .parameters = new_parameters(graph, node, seen),
                       .macs = (*counts)[Count::mac],
                       .other_operations = other_operations(*counts),
                       .operations = occurring(*counts)};
    OperatorSummary& row = by_name[layer.op];
    row.op = layer.op;
    for (TensorId id : node.inputs) {
      if (id.valid()) layer.inputs.push_back(summary_of(graph[id]));
    }
    for (TensorId id : node.outputs) {
      if (!id.valid()) continue;
      layer.outputs.push_back(summary_of(graph[id]));
      if (!is_view(node)) row.output_bytes += bytes(graph[id]);
    }
    ++row.nodes;
    row.parameters += layer.parameters;
    row.macs += layer.macs;
    row.other_operations += layer.other_operations;
    ++of(inspection.nodes, node.phase);
    of(inspection.macs, node.phase) += layer.macs;
    of(inspection.other_operations, node.phase) += layer.other_operations;
    for (std::size_t i = 0; i < count_kinds; ++i) total.of[i] += counts->of[i];
    inspection.layers.push_back(std::move(layer));
  }
  inspection.operations = occurring(total);
  add_bytes_by_role(graph, inspection);
  sort_operators(by_name, inspection);
  return inspection;
}

}  // namespace monet
