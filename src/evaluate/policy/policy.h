// What a plan leaves out: a sensible choice for any network on any machine.
//
// Where nothing is said, an operator is a stack of its own, runs on the kind of core that is fastest for it, and is
// split over all cores of that kind along the loop that leaves the least work for one of them; it is not cut into
// tiles.
#pragma once

#include "evaluate/cost/tile_costs.h"
#include "evaluate/machine/machine.h"
#include "evaluate/plan/assignment.h"
#include "evaluate/plan/bind.h"
#include "evaluate/tiles/build.h"

#include <monet/expected.h>

#include <optional>
#include <span>
#include <vector>

namespace monet {

// A plan as far as it goes, and where the tensors that it pages out are meanwhile.
struct PlanRequest {
  BoundPlan plan;
  std::vector<MemoryId> paged;  // by tensor; empty: none
};

// Nothing is said.
PlanRequest empty_request(const Graph& graph);

class Policy {
 public:
  Policy(const Graph& graph, const Dependencies& dependencies, const Machine& machine, TileCosts& costs,
         const TilingGraph& tiling);

  // Fails when no core can run an operator, or the stacks cannot be put in order.
  Expected<Assignment> complete(const PlanRequest& request);

 private:
  struct Split {
    std::uint32_t kind = 0;
    std::vector<LoopSize> pieces;  // by loop
    double cycles = 0;             // of computing, and of moving data from and to home
  };
  Expected<Split> split_of(NodeId node, const BoundOperator& request);
  double cycles_of(NodeId node, std::uint32_t kind, std::span<const LoopSize> extents, std::int64_t pieces);
  Split best_split(NodeId node, std::uint32_t kind, std::size_t cores);

  const Graph* graph_;
  const Dependencies* dependencies_;
  const Machine* machine_;
  TileCosts* costs_;
  const TilingGraph* tiling_;
  std::vector<std::optional<Split>> defaults_;  // by class of node
};

}  // namespace monet
