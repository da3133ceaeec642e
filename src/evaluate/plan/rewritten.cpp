#include "evaluate/plan/rewritten.h"

#include "base/try.h"
#include "evaluate/plan/bind_tensors.h"
#include "training/recompute.h"

namespace monet {

namespace {

std::vector<NodeId> repeated_nodes(const Graph& original, const training::Recomputed& rewritten) {
  std::vector<NodeId> repeats;
  repeats.reserve(rewritten.copy_of.size());
  for (const NodeId source : rewritten.copy_of) {
    const TensorId made = source.valid() ? rewritten.tensors[original[source].outputs[0].index()] : TensorId();
    repeats.push_back(made.valid() ? rewritten.graph[made].producer : NodeId());
  }
  return repeats;
}

}  // namespace

Expected<RewrittenStep> rewritten_step(const Plan& plan, const Graph& original, const Hardware& hardware) {
  MONET_TRY(const std::vector<BoundTensor> tensors, bind_tensors(plan, original, hardware));
  RewrittenStep result;
  std::vector<TensorId> now;
  if (const std::vector<TensorId> again = recomputed(tensors); !again.empty()) {
    MONET_TRY(training::Recomputed rewritten, training::recompute(original, again));
    result.repeats = repeated_nodes(original, rewritten);
    result.graph = std::move(rewritten.graph);
    result.recomputes = true;
    for (const TensorId id : again) {
      const TensorId kept = rewritten.tensors[id.index()];
      result.recomputed.push_back(kept.valid() ? kept : rewritten.copies[id.index()]);
    }
    now = std::move(rewritten.tensors);
  } else {
    result.graph = original;
    for (std::size_t i = 0; i < original.tensors().size(); ++i) now.emplace_back(i);
  }
  for (const BoundTensor& tensor : tensors) {
    if (tensor.retention != Retention::page || !now[tensor.tensor.index()].valid()) continue;
    result.paged.resize(result.graph.tensors().size());
    result.paged[now[tensor.tensor.index()].index()] = tensor.memory;
  }
  return result;
}

}  // namespace monet
