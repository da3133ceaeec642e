#include "graph/verify.h"

#include "base/checked.h"
#include "graph/infer.h"
#include "graph/nests.h"

#include <fmt/format.h>

#include <unordered_set>

namespace monet {

namespace {

Error violated(std::string message, std::string place) {
  return {.kind = ErrorKind::defect, .message = std::move(message), .place = std::move(place), .advice = {}};
}

Error uncountable(std::string message, std::string place) {
  return {.kind = ErrorKind::user,
          .message = std::move(message),
          .place = std::move(place),
          .advice = "choose smaller dimensions or a smaller batch"};
}

Status verify_tensors(const Graph& graph) {
  std::unordered_set<std::string_view> names;
  names.reserve(graph.tensors().size());
  std::unordered_set<TensorId> replaced;
  std::int64_t total_bytes = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (const std::string reason = impossible_shape(tensor.type.shape); !reason.empty()) {
      return violated(fmt::format("it is {}: {}", to_string(tensor.type.shape), reason), tensor.name);
    }
    const auto sum = checked_add(total_bytes, bytes(tensor));
    if (!sum) return uncountable("the tensors up to this one have more bytes than 64 bits can count", tensor.name);
    total_bytes = *sum;
    if (!names.insert(tensor.name).second) return violated("two tensors have this name", tensor.name);
    if (tensor.updates.valid() && graph[tensor.updates].type != tensor.type) {
      return violated("it replaces a tensor of another type", tensor.name);
    }
    if (tensor.updates.valid() && !replaced.insert(tensor.updates).second) {
      return violated(fmt::format("it replaces '{}', and so does another tensor", graph[tensor.updates].name),
                      tensor.name);
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

// What the nodes up to one have made and done.
struct Progress {
  std::vector<bool> made;
  std::vector<bool> replaced;  // tensors whose value is gone: another took its place
  std::int64_t operations = 0;
};

std::string place_of(const Node& node) { return fmt::format("node '{}' ({})", node.name, name_of(node.op)); }

Status count_operations(const Graph& graph, const Node& node, Progress& progress) {
  const auto counts = operation_counts(nests_of(site_of(graph, node)));
  if (!counts) return uncountable(counts.error().message, place_of(node));
  for (std::int64_t number : counts->of) {
    const auto sum = checked_add(progress.operations, number);
    if (!sum) return uncountable("the nodes up to this one do more operations than 64 bits can count", place_of(node));
    progress.operations = *sum;
  }
  return Done{};
}

Status verify_node(const Graph& graph, NodeId id, Progress& progress) {
  const Node& node = graph[id];
  std::vector<const TensorType*> types;
  for (TensorId input : node.inputs) {
    types.push_back(input.valid() ? &graph[input].type : nullptr);
    if (input.valid() && !progress.made[input.index()])
      return violated(fmt::format("reads '{}' before it is made", graph[input].name), place_of(node));
    if (input.valid() && progress.replaced[input.index()])
      return violated(fmt::format("reads '{}' after another tensor took its place", graph[input].name), place_of(node));
  }
  const auto expected = infer({.op = node.op, .attributes = node.attributes, .inputs = types});
  if (!expected) return violated(expected.error().message, place_of(node));
  if (node.outputs.empty() || !node.outputs[0].valid()) return violated("has no first output", place_of(node));
  if (node.outputs.size() > expected->size()) return violated("has more outputs than its operator", place_of(node));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorId output = node.outputs[i];
    if (!output.valid()) continue;
    if (graph[output].producer != id)
      return violated(fmt::format("is not the producer of its output '{}'", graph[output].name), place_of(node));
    if (graph[output].type.shape != (*expected)[i].shape) {
      return violated(fmt::format("output '{}' is {} and should be {}", graph[output].name,
                                  to_string(graph[output].type.shape), to_string((*expected)[i].shape)),
                      place_of(node));
    }
    progress.made[output.index()] = true;
    if (graph[output].updates.valid()) progress.replaced[graph[output].updates.index()] = true;
  }
  return count_operations(graph, node, progress);
}

}  // namespace

Status verify(const Graph& graph) {
  if (auto status = verify_tensors(graph); !status) return status;
  Progress progress;
  for (const Tensor& tensor : graph.tensors()) progress.made.push_back(!tensor.producer.valid());
  progress.replaced.assign(graph.tensors().size(), false);
  std::unordered_set<std::string_view> names;
  names.reserve(graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (!names.insert(graph.nodes()[i].name).second) return violated("two nodes have this name", graph.nodes()[i].name);
    if (auto status = verify_node(graph, NodeId(i), progress); !status) return status;
  }
  for (TensorId output : graph.outputs) {
    if (!progress.made[output.index()]) return violated("an output is never made", graph[output].name);
  }
  return Done{};
}

}  // namespace monet
