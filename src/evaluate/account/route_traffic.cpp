#include "evaluate/account/route_traffic.h"

namespace monet {

std::vector<std::array<RouteTraffic, transfer_kinds>> route_traffic(const Schedule& schedule,
                                                                    std::span<const RoutePrice> prices) {
  std::vector<std::array<RouteTraffic, transfer_kinds>> routes(schedule.routes.size());
  for (const ScheduledTransfer& transfer : schedule.transfers) {
    RouteTraffic& traffic = routes[transfer.route][static_cast<std::size_t>(transfer.kind)];
    const RoutePrice& price = prices[transfer.route];
    const double moved = bits(transfer);
    traffic.written_bits += price.write.whole(moved);
    traffic.arrived_bits += moved;
    if (transfer.joined) continue;
    traffic.read_bits += price.read.whole(moved);
    traffic.bits += moved;
  }
  return routes;
}

}  // namespace monet
