#include "onnx/idioms.h"

#include "onnx/idioms/match.h"

#include <algorithm>
#include <unordered_map>

namespace monet::onnx {

void recognize_idioms(Graph& graph, bool gelu_has_an_operator) {
  std::vector<bool> taken(graph.nodes().size(), false);
  std::unordered_map<std::size_t, Match> matches;  // by root
  Matcher matcher(graph);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (taken[i]) continue;
    auto match = match_activation(matcher, NodeId(i));
    if (match && match->replacement.op == Op::Gelu && gelu_has_an_operator) match.reset();
    if (!match) match = match_norm(matcher, NodeId(i));
    if (!match) match = match_group_norm(matcher, NodeId(i));
    if (!match) match = match_attention(matcher, NodeId(i));
    if (!match || taken[match->root.index()]) continue;
    if (std::ranges::any_of(match->inner, [&](NodeId inner) { return taken[inner.index()]; })) continue;
    for (NodeId inner : match->inner) taken[inner.index()] = true;
    taken[match->root.index()] = true;
    matches.emplace(match->root.index(), std::move(*match));
  }
  if (matches.empty()) return;
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
}

}  // namespace monet::onnx
