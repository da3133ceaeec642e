#include "training/recompute.h"

#include "base/try.h"
#include "training/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace monet::training {

namespace {

Error cannot(const Graph& graph, TensorId id, std::string message, std::string advice) {
  return {
      .message = std::move(message), .place = fmt::format("tensor '{}'", graph[id].name), .advice = std::move(advice)};
}

Error not_saved(const Graph& graph, TensorId id) {
  return cannot(graph, id, "there is nothing to recompute: it is not kept from the forward part to the backward part",
                "name a tensor that the forward part makes and the backward part reads");
}

Status check(const Graph& graph, const Repeatable& can, TensorId id) {
  if (can.is_there_anyway(id)) {
    return cannot(graph, id, "it cannot be recomputed: it leaves the step, so it is kept anyway", "take it out");
  }
  if (!can.is_saved(id)) return not_saved(graph, id);
  if (const std::string reason = can.reason(id); !reason.empty()) {
    return cannot(graph, id, fmt::format("it cannot be recomputed: {}", reason), "keep it, or page it");
  }
  return Done{};
}

}  // namespace

std::vector<SavedCandidate> saved_candidates(const Graph& graph) {
  const Repeatable can(graph);
  std::vector<SavedCandidate> result;
  for (const Node& node : graph.nodes()) {
    for (TensorId id : node.outputs) {
      if (id.valid() && can.is_saved(id)) result.push_back({id, bytes(graph[id]), can.reason(id)});
    }
  }
  return result;
}

std::vector<TensorId> stored_behind(const Graph& graph, TensorId tensor) {
  std::vector<TensorId> stored;
  std::vector<TensorId> open = {tensor};
  std::unordered_set<TensorId> seen = {tensor};
  while (!open.empty()) {
    const TensorId id = open.back();
    open.pop_back();
    const NodeId producer = graph[id].producer;
    if (!producer.valid() || family_of(graph[producer].op) != OpFamily::view) {
      stored.push_back(id);
      continue;
    }
    for (TensorId from : graph[producer].inputs) {
      if (from.valid() && seen.insert(from).second) open.push_back(from);
    }
  }
  std::ranges::sort(stored);
  return stored;
}

Recomputation::Recomputation(const Graph& graph) : base_(std::make_unique<const RewriteBase>(graph)) {}
Recomputation::~Recomputation() = default;
Recomputation::Recomputation(Recomputation&&) noexcept = default;

Expected<Recomputed> Recomputation::with(std::span<const TensorId> tensors) const {
  const Graph& graph = base_->graph;
  const Repeatable& can = base_->can;
  std::vector<bool> recomputed(graph.tensors().size(), false);
  for (TensorId tensor : tensors) {
    bool any = false;
    for (TensorId id : stored_behind(graph, tensor)) {
      if (!can.is_made_forward(id)) continue;  // a view may also show something that is there anyway
      MONET_RETURN_IF_ERROR(check(graph, can, id));
      recomputed[id.index()] = true;
      any = true;
    }
    if (!any) return not_saved(graph, tensor);
  }
  return rewrite(*base_, recomputed);
}

Expected<Recomputed> recompute(const Graph& graph, std::span<const TensorId> tensors) {
  return Recomputation(graph).with(tensors);
}

}  // namespace monet::training
