#include "evaluate/cost/tile_costs.h"

#include "base/try.h"
#include "graph/custom.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace monet {

TileCosts::TileCosts(const Graph& graph, const OperatorClasses& classes, TileCostTable& table)
    : graph_(&graph), table_(&table) {
  class_of_.reserve(graph.nodes().size());
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    class_of_.push_back(table.class_of(graph, NodeId(n), classes[NodeId(n)]));
  }
  paths_.reserve(graph.nodes().size());
  for (std::uint32_t node_class : class_of_) paths_.push_back(table[node_class].input_paths.data());
  if (table.options().zigzag) note_free();
}

void TileCosts::note_free() {
  std::map<std::string, std::size_t> free;
  for (std::size_t i = 0; i < class_of_.size(); ++i) {
    const Node& node = graph_->nodes()[i];
    const TileCostTable::NodeClass& of = (*table_)[class_of_[i]];
    const bool given = std::ranges::any_of(of.custom, [](const auto& cost) { return cost.has_value(); });
    if (!of.problems.empty() && !given && !stream_layer(*graph_, node)) ++free[operator_type(node)];
  }
  std::vector<std::string> parts;
  for (const auto& [op, count] : free) parts.push_back(fmt::format("{} {}", count, op));
  if (!parts.empty()) notes_.push_back(fmt::format("free by the rules of --zigzag: {}", fmt::join(parts, ", ")));
}

const std::string* TileCosts::refusal(NodeId node, std::size_t kind) const {
  const std::string& reason = (*table_)[class_of_[node.index()]].refusals[kind];
  return reason.empty() ? nullptr : &reason;
}

std::uint32_t TileCosts::request(NodeId node, std::size_t kind, std::uint8_t streamed, bool adds,
                                 std::span<const LoopSize> extents, std::size_t pieces) {
  const TileRequest request{.node_class = class_of_[node.index()],
                            .kind = static_cast<std::uint32_t>(kind),
                            .streamed = streamed,
                            .adds = adds,
                            .pieces = static_cast<std::uint32_t>(pieces),
                            .extents = {}};
  const std::uint32_t cost = table_->request(request, extents);
  if (cost >= requested_.size()) requested_.resize(cost + 1, false);
  if (!requested_[cost]) open_.push_back(cost);
  requested_[cost] = true;
  return cost;
}

Status TileCosts::check_custom() const {
  for (std::uint32_t node_class : class_of_) MONET_RETURN_IF_ERROR(table_->check_custom(node_class));
  return Done{};
}

Status TileCosts::solve(std::size_t jobs, const std::function<void(std::size_t, std::size_t)>& progress,
                        const std::function<bool()>& stop) {
  MONET_RETURN_IF_ERROR(table_->solve(*graph_, jobs, progress, stop));
  for (std::uint32_t cost : open_) {
    for (const std::string& note : table_->solution(cost).notes) {
      if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
    }
  }
  open_.clear();
  return Done{};
}

Error TileCosts::failure(NodeId node, std::uint32_t cost) const {
  const RoutedMachine& machine = table_->machine();
  const CoreId core = machine.first_of_kind(table_->request_of(cost).kind);
  const std::string& advice = table_->solution(cost).advice;
  return {.kind = ErrorKind::infeasible,
          .message = fmt::format("a tile of it cannot run on core {}: {}", machine.hardware()[core].name,
                                 table_->solution(cost).failure),
          .place = (*graph_)[node].name,
          .advice = advice.empty() ? "give it another core, or use another machine" : advice + ", or another core"};
}

}  // namespace monet
