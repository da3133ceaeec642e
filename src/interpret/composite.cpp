// Operators that are defined by simpler ones: the expansion is run.
#include "base/try.h"
#include "graph/expand.h"
#include "interpret/interpret.h"

namespace monet {

Expected<std::vector<Array>> execute_composite(const Execution& execution) {
  Graph graph;
  Node node{
      .name = "node", .op = execution.op, .phase = {}, .attributes = execution.attributes, .inputs = {}, .outputs = {}};
  const auto add = [&](const TensorType* type, std::vector<TensorId>& ids) {
    ids.emplace_back();
    if (type == nullptr) return;
    ids.back() = graph.add_tensor({.name = std::to_string(graph.tensors().size()),
                                   .type = *type,
                                   .role = Role::input,
                                   .producer = {},
                                   .parameter = false,
                                   .updates = {}});
  };
  for (const TensorType* type : execution.input_types) add(type, node.inputs);
  for (const TensorType* type : execution.output_types) add(type, node.outputs);
  for (TensorId id : node.inputs) graph.inputs.push_back(id);
  std::erase(graph.inputs, TensorId());
  for (TensorId id : node.outputs) graph.outputs.push_back(id);
  std::erase(graph.outputs, TensorId());
  const std::size_t input_count = graph.inputs.size();
  graph.add_node(std::move(node));
  MONET_TRY(const Graph expanded,
            expand(std::move(graph), [&](const Graph&, const Node& each) { return each.op == execution.op; }));
  Values values;
  std::size_t at = 0;
  for (const Array* array : execution.inputs) {
    if (array != nullptr) values.emplace(expanded.inputs[at++], *array);
  }
  if (at != input_count)
    return Error{.kind = ErrorKind::defect, .message = "an input is missing", .place = {}, .advice = {}};
  MONET_RETURN_IF_ERROR(run(expanded, values));
  std::vector<Array> results(execution.output_types.size());
  at = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (execution.wants(i)) results[i] = std::move(values.at(expanded.outputs[at++]));
  }
  return results;
}

}  // namespace monet
