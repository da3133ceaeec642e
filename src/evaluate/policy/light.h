// Light operators do little with what they read: norms, activations, sums, their gradients, and updates of weights.
// Where their data do not fit the memory of their core, they would read all of it from home and write all of it back,
// one after the other. So they are cut into pieces that fit, which are read where they lie, and those that follow each
// other are one stack: a piece goes through all of them while it is there.
#pragma once

#include "evaluate/cost/tile_costs.h"
#include "evaluate/machine/machine.h"
#include "evaluate/plan/assignment.h"
#include "evaluate/plan/dependencies.h"
#include "evaluate/policy/buffer_cuts.h"
#include "evaluate/policy/core_share.h"
#include "evaluate/tiles/build.h"

#include <bitset>
#include <vector>

namespace monet {

bool is_light(const Graph& graph, NodeId node);

// Bytes of a tile in the memory in which a core has its data of that path.
double bytes_beside(const CorePlaces& core, const TileEstimate& tile, std::size_t path);

// Pieces of light operators, one operator after the other in the order of the graph.
class LightPieces {
 public:
  // `sums` of an operator may be cut, by node: where its kind has one core, the sum stays there. All must outlive it.
  LightPieces(const Graph& graph, const Dependencies& dependencies, const TilingGraph& tiling,
              const RoutedMachine& machine, CoreShare share, TileCosts& costs, const std::vector<bool>& sums);

  // The pieces of a light operator on a kind of core, beside those that it is split into already: as few as fit half of
  // its core's memory, along loops that its readers can be cut along too, or along any where those do not do, and of
  // those where they meet the fewest buffers. As they are where they fit, where the operator is no faster for it (it
  // computes longer than its data take from home, or its cores share a memory), or where nothing fits.
  std::vector<LoopSize> cut(NodeId node, std::uint32_t kind, std::vector<LoopSize> pieces);
  // An operator, light or not, is cut so.
  void add(NodeId node, std::span<const LoopCut> cuts) { buffers_.add(node, cuts); }

 private:
  using LoopSet = std::bitset<64>;  // by Dim

  // Loops along which an operator can be cut together with those that read from it; all of its own where there are
  // none.
  void find_shared_loops(const Dependencies& dependencies, const std::vector<bool>& sums);
  const CorePlaces& core(std::uint32_t kind) const { return machine_[machine_.first_of_kind(kind)]; }
  bool is_worth_it(NodeId node, std::uint32_t kind);
  bool fits(NodeId node, std::uint32_t kind, std::span<const LoopSize> pieces);
  bool cut_further(NodeId node, const LoopSet& loops, const BufferCuts::Meetings& meetings,
                   std::vector<LoopSize>& pieces) const;

  const Graph& graph_;
  const TilingGraph& tiling_;
  const RoutedMachine& machine_;
  const CoreShare share_;
  TileCosts& costs_;
  BufferCuts buffers_;
  std::vector<LoopSet> own_, shared_;  // by node
};

// Stacks of light operators of which the plan says nothing (`is_free`, by node), each with what it reads from: on the
// same kind of core, and cut alike. Where one is cut finer than another and both can be, both are.
std::vector<std::vector<NodeId>> join_light(const Graph& graph, const Dependencies& dependencies,
                                            const TilingGraph& tiling, const RoutedMachine& machine, CoreShare share,
                                            const std::vector<bool>& is_free,
                                            std::vector<OperatorAssignment>& operators);

}  // namespace monet
