// Light operators do little with what they read: norms, activations, sums and their gradients. Where their data do not
// fit the memory of their core, they would read all of it from home and write all of it back, one after the other. So
// they are cut into pieces that fit, which are read where they lie, and those that follow each other are one stack: a
// piece goes through all of them while it is there.
#pragma once

#include "evaluate/cost/tile_costs.h"
#include "evaluate/machine/machine.h"
#include "evaluate/plan/assignment.h"
#include "evaluate/plan/dependencies.h"
#include "evaluate/tiles/build.h"

#include <vector>

namespace monet {

bool is_light(const Graph& graph, NodeId node);

// Bytes of a tile in the memory in which a core has its data of that path.
double bytes_beside(const CorePlaces& core, const TileEstimate& tile, std::size_t path);

// Pieces of a light operator on a kind of core, beside those that it is split into already: as few as fit half of its
// core's memory, by channels first, since norms can be cut no other way. As they are where they fit, where the operator
// is no faster for it (it computes longer than its data take from home, or its cores share a memory), or where nothing
// fits.
std::vector<LoopSize> pieces_that_fit(const TilingGraph& tiling, const RoutedMachine& machine, TileCosts& costs,
                                      NodeId node, std::uint32_t kind, std::vector<LoopSize> pieces);

// Stacks of light operators of which the plan says nothing (`is_free`, by node), each with what it reads from: on the
// same kind of core, and cut alike. Where one is cut finer than another and both can be, both are.
std::vector<std::vector<NodeId>> join_light(const Graph& graph, const Dependencies& dependencies,
                                            const TilingGraph& tiling, const RoutedMachine& machine,
                                            const std::vector<bool>& is_free,
                                            std::vector<OperatorAssignment>& operators);

}  // namespace monet
