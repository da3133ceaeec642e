// Into how many buffers each tensor is cut along its axes, by the operators that are assigned so far, and how many of
// them the pieces of another operator would meet: each meeting is a transfer.
#pragma once

#include "evaluate/plan/assignment.h"
#include "evaluate/tiles/build.h"
#include "graph/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet {

class BufferCuts {
 public:
  BufferCuts(const Graph& graph, const TilingGraph& tiling);

  // The operator is cut so.
  void add(NodeId node, std::span<const LoopCut> cuts);
  // What an operator reads, to be asked for different pieces of it.
  class Meetings {
   public:
    std::int64_t operator()(std::span<const LoopSize> pieces) const;

   private:
    friend class BufferCuts;
    struct Axis {
      std::optional<Dim> loop;
      std::int64_t buffers = 1;
    };
    std::vector<std::vector<Axis>> reads_;
  };
  Meetings meetings(NodeId node) const;

 private:
  const Graph& graph_;
  const TilingGraph& tiling_;
  std::vector<std::uint32_t> first_axis_;  // by tensor
  std::vector<std::int64_t> buffers_;      // by axis of all tensors
};

}  // namespace monet
