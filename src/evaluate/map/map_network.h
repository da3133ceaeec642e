// How `map_network` is put together.
#pragma once

#include "graph/network_graph.h"
#include "hardware/hardware.h"
#include "mapping/mapping.h"

#include <monet/map.h>

#include <cstdint>

namespace monet {

constexpr std::int64_t full_factors = 8;  // pieces of loops in a full search

// Whether it is one of the layers that the options ask for.
bool wants_layer(const MapOptions& options, const Node& node);
// Appends it and adds it to the totals.
void add_layer(NetworkMapping& mapping, MappedLayer layer);

// The other tool's layers, search and rules (src/compat/zigzag).
Expected<NetworkMapping> map_like_zigzag(const NetworkGraph& network, const Hardware& hardware, CoreId core,
                                         Objective objective, const MapOptions& options, NetworkMapping result);

// On a kernel core: a row for each launch, in order.
NetworkMapping map_kernels(const NetworkGraph& network, const Hardware& hardware, const MapOptions& options, bool tf32,
                           NetworkMapping result);

}  // namespace monet
