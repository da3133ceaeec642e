#include "evaluate/stages/chip_step.h"

#include "base/try.h"
#include "graph/nests.h"
#include "training/recompute.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace monet {

std::int64_t tokens_in(const Graph& graph) {
  for (TensorId id : graph.inputs) {
    const TensorType& type = graph[id].type;
    if (is_integer(type.format.element) && type.shape.size() == 2) return type.shape[1];
  }
  return 0;
}

double macs_of(const Graph& graph, Phase last) {
  double sum = 0;
  for (const Node& node : graph.nodes()) {
    if (node.phase > last) continue;
    const auto counts = operation_counts(nests_of(site_of(graph, node)));
    if (counts) sum += static_cast<double>((*counts)[Count::mac]);
  }
  return sum;
}

Expected<ChipStep> chip_step(OpenedStep whole, const parallel::ParallelOptions& options,
                             training::RecomputeChoice recompute) {
  ChipStep result{.blocks = blocks_of(whole.graph), .model_macs = macs_of(whole.graph)};
  result.parameters = whole.parameters;
  result.tokens = tokens_in(whole.graph);
  result.notes = std::move(whole.notes);
  result.warnings = std::move(whole.warnings);
  if (recompute != training::RecomputeChoice::none) {
    const std::vector<TensorId> again = training::recomputed_by(whole.graph, recompute);
    MONET_TRY(training::Recomputed rewritten, training::recompute(whole.graph, again));
    whole.graph = std::move(rewritten.graph);
    if (again.empty()) result.notes.push_back("recompute: nothing of the kind is kept");
  }
  result.hardware_macs = recompute == training::RecomputeChoice::none ? result.model_macs : macs_of(whole.graph);
  parallel::ParallelOptions inside = options;
  for (MeshAxis& axis : inside.mesh.axes) {
    if (axis.name == "dp" || axis.name == "pp") axis.size = 1;
  }
  inside.zero = 0;
  result.graph = std::move(whole.graph);
  if (inside.mesh.chips() > 1) {
    MONET_TRY(parallel::ParallelStep split, parallel::parallel_step(std::move(result.graph), inside));
    result.graph = std::move(split.graph);
    std::ranges::move(split.notes, std::back_inserter(result.notes));
  }
  result.saved_bytes = saved_bytes_of(result.graph);
  return result;
}

}  // namespace monet
