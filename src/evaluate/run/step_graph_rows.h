// The bands and rows of a picture of a step (evaluate/run/step_graph_layout.h).
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet {

enum class Band : std::uint8_t { forward, recomputed, backward, optimizer };
constexpr std::size_t band_count = 4;

// By node: the nodes that make what it reads, as often as it reads it.
class NodeMakers {
 public:
  explicit NodeMakers(const Graph& graph);
  std::span<const std::uint32_t> of(std::size_t node) const {
    return std::span(makers_).subspan(first_[node], first_[node + 1] - first_[node]);
  }

 private:
  std::vector<std::size_t> first_ = {0};
  std::vector<std::uint32_t> makers_;
};

struct StepRows {
  std::vector<Band> band;       // by node
  std::vector<std::int64_t> y;  // by node
};

// `repeats`: as node_places() takes it. Within the forward band every edge goes down, within the backward band up.
StepRows step_rows(const Graph& graph, std::span<const NodeId> repeats, const NodeMakers& makers);

}  // namespace monet
