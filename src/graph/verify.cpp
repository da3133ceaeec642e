#include "graph/verify.h"

#include "graph/infer.h"
#include "graph/nests.h"

#include <fmt/format.h>

#include <unordered_set>

namespace monet {

namespace {

Error violated(std::string message, std::string place) {
  return {.kind = ErrorKind::defect, .message = std::move(message), .place = std::move(place), .advice = {}};
}

Status verify_tensors(const Graph& graph) {
  std::unordered_set<std::string_view> names;
  for (const Tensor& tensor : graph.tensors()) {
    if (!names.insert(tensor.name).second) return violated("two tensors have this name", tensor.name);
    if (tensor.updates.valid() && graph[tensor.updates].type != tensor.type) {
      return violated("it replaces a tensor of another type", tensor.name);
    }
    if (tensor.producer.valid() && tensor.producer.index() >= graph.nodes().size()) {
      return violated("its producer does not exist", tensor.name);
    }
  }
  for (const auto& [id, constant] : graph.constants) {
    if (constant.shape != graph[id].type.shape) return violated("its value has another shape", graph[id].name);
    if (graph[id].producer.valid()) return violated("it is a constant and a node makes it", graph[id].name);
  }
  return Done{};
}

Status verify_node(const Graph& graph, NodeId id, std::vector<bool>& made) {
  const Node& node = graph[id];
  const std::string place = fmt::format("node '{}' ({})", node.name, name_of(node.op));
  std::vector<const TensorType*> types;
  for (TensorId input : node.inputs) {
    types.push_back(input.valid() ? &graph[input].type : nullptr);
    if (input.valid() && !made[input.index()])
      return violated(fmt::format("reads '{}' before it is made", graph[input].name), place);
  }
  const auto expected = infer({.op = node.op, .attributes = node.attributes, .inputs = types});
  if (!expected) return violated(expected.error().message, place);
  if (node.outputs.size() > expected->size()) return violated("has more outputs than its operator", place);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorId output = node.outputs[i];
    if (!output.valid()) continue;
    if (graph[output].producer != id)
      return violated(fmt::format("is not the producer of its output '{}'", graph[output].name), place);
    if (graph[output].type.shape != (*expected)[i].shape) {
      return violated(fmt::format("output '{}' is {} and should be {}", graph[output].name,
                                  to_string(graph[output].type.shape), to_string((*expected)[i].shape)),
                      place);
    }
    made[output.index()] = true;
  }
  const auto counts = operation_counts(nests_of(site_of(graph, node)));
  if (!counts)
    return Error{.kind = ErrorKind::user,
                 .message = counts.error().message,
                 .place = place,
                 .advice = "choose smaller dimensions"};
  return Done{};
}

}  // namespace

Status verify(const Graph& graph) {
  if (auto status = verify_tensors(graph); !status) return status;
  std::vector<bool> made(graph.tensors().size());
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = !graph.tensors()[i].producer.valid();
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (!names.insert(graph.nodes()[i].name).second) return violated("two nodes have this name", graph.nodes()[i].name);
    if (auto status = verify_node(graph, NodeId(i), made); !status) return status;
  }
  for (TensorId output : graph.outputs) {
    if (!made[output.index()]) return violated("an output is never made", graph[output].name);
  }
  return Done{};
}

}  // namespace monet
