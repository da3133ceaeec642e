#include "training/saved.h"

#include "training/layout.h"

#include <algorithm>
#include <set>

namespace monet::training {

namespace {

// The sizes as which a product reads operand `input`: PyTorch folds the leading axes of one that meets a matrix, and
// merges the batch axes of two batched ones.
std::optional<Shape> read_as(const Graph& graph, const Node& node, TensorId operand) {
  if (node.op != Op::MatMul || node.inputs[0] == node.inputs[1]) return std::nullopt;
  const Shape& shape = graph[operand].type.shape;
  const TensorId other = node.inputs[0] == operand ? node.inputs[1] : node.inputs[0];
  if (shape.size() < 3 || element_count(shape) == 0) return std::nullopt;
  const std::size_t inner = graph[other].type.shape.size() <= 2 ? 1 : 2;  // axes that stay
  Shape merged(shape.end() - static_cast<std::ptrdiff_t>(inner), shape.end());
  std::int64_t batch = 1;
  for (std::size_t i = 0; i + inner < shape.size(); ++i) batch *= shape[i];
  merged.insert(merged.begin(), batch);
  return merged;
}

bool is_copied(const Graph& graph, const Node& node, TensorId operand, const Layout& layout) {
  const auto shape = read_as(graph, node, operand);
  return shape && !view_strides(graph[operand].type.shape, layout.strides, *shape);
}

bool is_made_forward(const Graph& graph, TensorId id) {
  return graph[id].producer.valid() && graph[graph[id].producer].phase == Phase::forward;
}

// The tensor that has the same values in its own order.
TensorId values_of(const Graph& graph, TensorId id) {
  while (graph[id].producer.valid()) {
    const Node& node = graph[graph[id].producer];
    if (node.op != Op::Identity && node.op != Op::Reshape && node.op != Op::Transpose) break;
    id = node.inputs[0];
  }
  return id;
}

}  // namespace

std::vector<SavedTensor> saved_tensors(const Graph& graph, std::span<const SavedBy> saves) {
  const std::vector<Layout> layout = layouts(graph);
  std::vector<bool> read(graph.tensors().size(), false);
  for (const SavedBy& save : saves_of(graph)) read[save.tensor.index()] = true;
  std::set<TensorId> storages;
  std::set<std::pair<TensorId, TensorId>> seen;  // values and where they are
  std::vector<SavedTensor> result;
  for (const SavedBy& save : saves) {
    if (!save.tensor.valid() || !is_made_forward(graph, save.tensor)) continue;
    if (!save.kept && !read[save.tensor.index()]) continue;
    const bool copied =
        save.node.valid() && is_copied(graph, graph[save.node], save.tensor, layout[save.tensor.index()]);
    // A copy is named by the tensor that it is made of; no other storage is.
    const TensorId storage = copied ? save.tensor : layout[save.tensor.index()].storage;
    // A view of a weight or of the input keeps nothing alive that is not there anyway.
    if (!is_made_forward(graph, storage)) continue;
    if (!seen.insert({values_of(graph, save.tensor), storage}).second) continue;
    const Tensor& tensor = graph[save.tensor];
    const std::int64_t whole = bytes(graph[storage]);
    result.push_back({.tensor = save.tensor,
                      .elements = element_count(tensor.type.shape),
                      .bytes = std::min(bytes(tensor), whole),
                      .storage_bytes = storages.insert(storage).second ? whole : 0});
  }
  std::ranges::stable_sort(result, {}, [&](const SavedTensor& saved) { return graph[saved.tensor].producer; });
  return result;
}

std::vector<SavedBy> saves_of(const Graph& graph) {
  std::vector<SavedBy> saves;
  for (const Node& node : graph.nodes()) {
    if (node.phase == Phase::forward) continue;
    for (TensorId id : node.inputs) {
      if (id.valid() && is_made_forward(graph, id)) saves.push_back({{}, id});
    }
  }
  return saves;
}

}  // namespace monet::training
