// What went over each route.
#pragma once

#include "evaluate/account/price.h"

#include <array>
#include <span>
#include <vector>

namespace monet {

struct RouteTraffic {
  double bits = 0;          // over its channels; what several receive together goes once
  double read_bits = 0;     // at the source, in whole pieces
  double written_bits = 0;  // at the destination, in whole pieces
  double arrived_bits = 0;  // at the destination, as they are
};

// By route and kind of transfer; without what tiles stream.
std::vector<std::array<RouteTraffic, transfer_kinds>> route_traffic(const Schedule& schedule,
                                                                    std::span<const RoutePrice> prices);

}  // namespace monet
