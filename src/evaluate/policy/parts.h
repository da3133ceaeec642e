// Parts of operators for cores that work in a small memory while data are at home in storage: each part fits, with what
// it reads and makes, and together they move the fewest bytes.
#pragma once

#include "evaluate/plan/assignment.h"
#include "evaluate/tiles/build.h"
#include "graph/nests.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet {

class StoredParts {
 public:
  // `element_bits`: of an element as the machine stores it, by tensor. All must outlive it.
  StoredParts(const Graph& graph, const TilingGraph& tiling, std::span<const StoredWidth> element_bits)
      : graph_(graph), tiling_(tiling), element_bits_(element_bits) {}

  // Pieces of loops so that one of the operator's parts needs at most `bytes` and all of them move the least, as a
  // memory would that keeps of each operand what the part before has left; `least` is what some loops are in already.
  // Nothing fits: as small as they get. `latency_bytes`: what could be moved while a transfer begins.
  // Cost: at most a few thousand estimates.
  std::vector<LoopSize> cut(NodeId node, double bytes, double latency_bytes,
                            std::span<const LoopSize> least = {}) const;
  // The same for an operator that reads what another, cut so, makes: it begins with pieces that fall together with
  // that one's.
  std::vector<LoopSize> cut_after(NodeId node, NodeId maker, std::span<const LoopSize> pieces, double bytes,
                                  double latency_bytes) const;

 private:
  const Graph& graph_;
  const TilingGraph& tiling_;
  std::span<const StoredWidth> element_bits_;
};

}  // namespace monet
