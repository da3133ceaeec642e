#include "evaluate/open/known_rows.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace monet {

Graph with_known_rows(Graph graph) {
  // Indices may be for several tables: they lie in the smallest.
  std::vector<std::pair<TensorId, std::int64_t>> lookups;  // indices, and rows of the table
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::Gather || graph.constant(node.inputs[1]) != nullptr) continue;
    const auto axis = static_cast<std::size_t>(node.attributes.integer(Attr::axis));
    const std::int64_t rows = graph[node.inputs[0]].type.shape[axis];
    const auto known = std::ranges::find(lookups, node.inputs[1], &std::pair<TensorId, std::int64_t>::first);
    if (known == lookups.end()) {
      lookups.emplace_back(node.inputs[1], rows);
    } else {
      known->second = std::min(known->second, rows);
    }
  }
  for (const auto& [indices, rows] : lookups) {
    const Tensor& tensor = graph[indices];
    const std::int64_t count = element_count(tensor.type.shape);
    std::vector<std::int64_t> values;
    values.reserve(static_cast<std::size_t>(count));
    // Evenly over the table, one after the other where there are more lookups than rows.
    for (std::int64_t i = 0; i < count; ++i) values.push_back(count <= rows ? i * (rows / count) : i % rows);
    graph.constants.insert_or_assign(
        indices, Constant::integers(tensor.type.format.element, tensor.type.shape, std::move(values)));
  }
  return graph;
}

}  // namespace monet
