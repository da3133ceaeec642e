// What a plan leaves out: a sensible choice for any network on any machine.
//
// Where nothing is said, an operator is a stack of its own, runs on the kind of core that is fastest for it, and is
// split over all cores of that kind along the loop that leaves the least work for one of them, or along two loops where
// that is clearly better; it is cut into tiles only along a long sum. Light operators are cut further and joined, see
// light.h.
#pragma once

#include "evaluate/classes/operator_classes.h"
#include "evaluate/cost/tile_costs.h"
#include "evaluate/machine/machine.h"
#include "evaluate/plan/assignment.h"
#include "evaluate/plan/bind.h"
#include "evaluate/policy/core_share.h"
#include "evaluate/tiles/build.h"

#include <monet/expected.h>

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace monet {

// A plan as far as it goes, and where the tensors that it pages out are meanwhile.
struct PlanRequest {
  BoundPlan plan;
  std::vector<MemoryId> paged;  // by tensor; empty: none
  // Where data are at home in storage: of the memory that a core works in, so much is for one part of an operator. What
  // is left is for what comes for the next one.
  double part_share = 0.45;
};

// Nothing is said.
PlanRequest empty_request(const Graph& graph);

// How an operator is split over the cores of a kind.
struct PolicySplit {
  std::uint32_t kind = 0;
  std::vector<LoopSize> pieces;  // by loop
  double cycles = 0;             // of computing, and of moving data from and to home

  // In tiles along a sum, where a piece does not fit its core; faster, if what all pieces read comes in such parts.
  struct Tiled {
    std::vector<LoopSize> pieces;
    LoopSize tile;  // iterations at a time
    double cycles = 0;
  };
  std::vector<Tiled> tiled;  // the fastest first
};

// Splits of operators of which a plan says nothing, by content, for many graphs on one machine. One thread at a time.
using SplitTable = ByOperatorClass<PolicySplit>;

// Pieces of operators that fit a memory, by their content, that of the operator whose result they follow, and the
// bytes.
using PartTable = std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::vector<LoopSize>>;

class Policy {
 public:
  // All must outlive it.
  // With `on_chip`, data may stay in memories of cores between operators. `element_bits`: as the tiles have them.
  Policy(const Graph& graph, const OperatorClasses& classes, const Dependencies& dependencies, RoutedMachine& machine,
         TileCosts& costs, const TilingGraph& tiling, const std::vector<StoredWidth>& element_bits,
         SplitTable& defaults, PartTable& parts, bool on_chip);

  // Operators of which nothing is said run on that share of the cores. Fails when no core can run an operator, or the
  // stacks cannot be put in order.
  Expected<Assignment> complete(const PlanRequest& request, CoreShare share = {});

 private:
  // Over some of `cores`; over any, if there are none.
  Expected<const PolicySplit*> split_of(NodeId node, std::span<const CoreId> cores);
  Expected<PolicySplit> find_split(NodeId node, std::span<const CoreId> given);
  // By node: a light operator whose kind has a single core.
  Expected<std::vector<bool>> lights_on_one_core(const BoundPlan& plan);
  double cycles_of(NodeId node, std::uint32_t kind, std::span<const LoopSize> extents, std::int64_t pieces,
                   std::int64_t tiles = 1);
  bool fits_beside(std::uint32_t kind, const TileEstimate& tile, std::size_t path, std::int64_t pieces,
                   int parts) const;
  void add_tiled(NodeId node, PolicySplit& split, std::span<const LoopSize> pieces, std::span<const LoopSize> extents);
  // Nothing: it is not tiled.
  const PolicySplit::Tiled* tiled_of(NodeId node, const PolicySplit& split) const;
  PolicySplit best_split(NodeId node, std::uint32_t kind, std::size_t cores);
  // Where data are at home in storage: pieces that fit a core of that kind. `maker`: see maker_of_update().
  const std::vector<LoopSize>& parts_of(NodeId node, std::uint32_t kind, NodeId maker, std::span<const LoopSize> made,
                                        double share);
  // Of an update: the operator of the backward part whose gradient it takes, if nobody else reads that; not valid:
  // none.
  NodeId maker_of_update(NodeId node) const;

  const Graph* graph_;
  const OperatorClasses* classes_;
  const Dependencies* dependencies_;
  RoutedMachine* machine_;
  TileCosts* costs_;
  const TilingGraph* tiling_;
  const std::vector<StoredWidth>* element_bits_;
  SplitTable* defaults_;
  PartTable* parts_;
  bool on_chip_;
  CoreShare share_;         // of the plan that is being completed
  PolicySplit restricted_;  // the last one over given cores
};

}  // namespace monet
