// One collective of a chip's step, and its price on the network.
#pragma once

#include "evaluate/kernels/kernel_network.h"

#include <string_view>

namespace monet {

// All but the price.
PricedCollective described(const Graph& graph, const Node& node);
// Fails where the mesh has no such axes.
Expected<CollectivePrice> price_over(const ChipNetwork& network, std::string_view over, CollectiveKind kind,
                                     double bytes);
// Of the chip, that a collective takes while it runs.
double chip_share_of(const ChipNetwork& network, const CollectivePrice& price);

}  // namespace monet
