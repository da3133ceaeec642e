#include "onnx/idioms.h"

#include "onnx/idioms/match.h"

#include <algorithm>
#include <unordered_map>

namespace monet::onnx {

std::size_t recognize_idioms(Graph& graph, const IdiomsAsWritten& as_written) {
  std::size_t norms_as_written = 0;
  std::vector<bool> taken(graph.nodes().size(), false);
  std::unordered_map<std::size_t, Match> matches;  // by root
  Matcher matcher(graph);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (taken[i]) continue;
    auto match = match_activation(matcher, NodeId(i));
    if (match && match->replacement.op == Op::Gelu && as_written.gelus) match.reset();
    if (!match) match = match_norm(matcher, NodeId(i));
    if (match && ((match->replacement.op == Op::LayerNormalization && as_written.layer_norms) ||
                  (match->replacement.op == Op::RMSNormalization && as_written.rms_norms))) {
      ++norms_as_written;
      match.reset();
    }
    if (!match) match = match_group_norm(matcher, NodeId(i));
    if (!match) match = match_attention(matcher, NodeId(i));
    if (!match || taken[match->root.index()]) continue;
    if (std::ranges::any_of(match->inner, [&](NodeId inner) { return taken[inner.index()]; })) continue;
    for (NodeId inner : match->inner) taken[inner.index()] = true;
    taken[match->root.index()] = true;
    matches.emplace(match->root.index(), std::move(*match));
  }
  if (matches.empty()) return norms_as_written;
  std::vector<Node> nodes;
  nodes.reserve(graph.nodes().size());
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (const auto match = matches.find(i); match != matches.end()) {
      for (Node& helper : match->second.before) nodes.push_back(std::move(helper));
      nodes.push_back(std::move(match->second.replacement));
    } else if (!taken[i]) {
      nodes.push_back(graph.nodes()[i]);
    }
  }
  graph.set_nodes(std::move(nodes));
  return norms_as_written;
}

}  // namespace monet::onnx
