#include "evaluate/account/kept_across.h"

#include <algorithm>

namespace monet {

namespace {

// Each output of these gathers many elements: what has passed one of them is bound together.
bool gathers(Op op) {
  switch (family_of(op)) {
    case OpFamily::contraction:
    case OpFamily::convolution:
    case OpFamily::norm:
    case OpFamily::softmax:
    case OpFamily::reduction: return true;
    default: return false;
  }
}

}  // namespace

KeptAcross kept_at(const Graph& graph, const Dependence& dependence, std::span<const double> bits, NodeId moment) {
  const Swaths before = dependence.needed_for(moment), after = dependence.that_need(moment);
  std::vector<bool> counted(bits.size(), false);
  KeptAcross kept{.node = moment};
  for (std::size_t n = moment.index() + 1; n < graph.nodes().size(); ++n) {
    if (!dependence.always_needs(NodeId(n), after)) continue;  // some of it may run before
    for (const TensorId id : dependence.read_by(NodeId(n))) {
      const Tensor& tensor = graph[id];
      if (counted[id.index()] || !before[id.index()] || tensor.updates.valid()) continue;
      if (!dependence.reads_whole(NodeId(n), id)) continue;
      counted[id.index()] = true;
      const auto all = static_cast<double>(std::max<std::int64_t>(element_count(tensor.type.shape), 1));
      const double share = static_cast<double>(elements_of(*before[id.index()], tensor.type.shape)) / all;
      (tensor.producer.valid() ? kept.made_bits : kept.given_bits) += share * bits[id.index()];
    }
  }
  return kept;
}

KeptAcross kept_across(const Graph& graph, std::span<const double> bits, double room_bits) {
  constexpr int most_moments = 16;
  // Nothing can be found where all of the step fits.
  double all = 0;
  for (const double of_tensor : bits) all += of_tensor;
  if (all <= room_bits) return {};
  const Dependence dependence(graph);
  const auto comes_back = [&](const KeptAcross& kept) {
    return std::max(0.0, kept.made_bits - room_bits) + std::max(0.0, kept.made_bits + kept.given_bits - room_bits);
  };
  KeptAcross best;
  int looked_at = 0;
  for (std::size_t n = graph.nodes().size(); n-- > 0 && looked_at < most_moments;) {
    const Node& node = graph[NodeId(n)];
    if (node.phase != Phase::forward || node.recomputed || !gathers(node.op)) continue;
    ++looked_at;
    const KeptAcross kept = kept_at(graph, dependence, bits, NodeId(n));
    if (comes_back(kept) > comes_back(best)) best = kept;
  }
  return best;
}

}  // namespace monet
