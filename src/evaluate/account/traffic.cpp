#include "evaluate/account/traffic.h"

#include "evaluate/account/price.h"
#include "evaluate/account/route_traffic.h"

namespace monet {

namespace {

MemoryId home_of(const Schedule& schedule, CoreId core) {
  return core.index() < schedule.home_of.size() ? schedule.home_of[core.index()] : MemoryId();
}

}  // namespace

MemoryId streams_from(const Schedule& schedule, const ScheduledTile& tile) {
  return tile.read_route == no_route ? home_of(schedule, tile.core) : schedule.routes[tile.read_route].from;
}

MemoryId streams_to(const Schedule& schedule, const ScheduledTile& tile) {
  return tile.write_route == no_route ? home_of(schedule, tile.core) : schedule.routes[tile.write_route].to;
}

TrafficBreakdown traffic_of(const ScheduledStep& step) {
  const auto& [graph, hardware, assignment, tiles, schedule] = step;
  TrafficBreakdown breakdown;
  breakdown.channels.resize(schedule.channels.size());
  breakdown.memories.resize(hardware.memories.size());
  std::vector<double> route_bits(schedule.routes.size(), 0);

  const std::vector<RoutePrice> prices = route_prices(hardware, schedule);
  const auto traffic = route_traffic(schedule, prices);
  for (std::size_t i = 0; i < traffic.size(); ++i) {
    const Route& route = schedule.routes[i];
    double read_pj = 0, written_pj = 0;
    for (const RouteTraffic& kind : traffic[i]) {
      route_bits[i] += kind.bits;
      read_pj += kind.read_bits * prices[i].read.pj_per_bit;
      written_pj += kind.written_bits * prices[i].write.pj_per_bit;
      breakdown.memories[route.from.index()].read_bytes += kind.bits / 8;
      breakdown.memories[route.to.index()].written_bytes += kind.arrived_bits / 8;
    }
    for (const auto& [id, share] : route.channels) {
      const Channel& channel = schedule.channels[id];
      ChannelBreakdown& use = breakdown.channels[id];
      if (channel.link.valid()) use.energy_pj += route_bits[i] * link_pj_per_bit(hardware[channel.link]);
      if (channel.memory.valid() && channel.memory == route.from) use.energy_pj += read_pj;
      if (channel.memory.valid() && channel.memory == route.to) use.energy_pj += written_pj;
    }
  }

  const std::vector<double> link_pj = streaming_link_pj(hardware, schedule);
  const auto stream = [&](std::uint32_t number, double bits) {
    if (number == no_route) return;
    route_bits[number] += bits;
    if (link_pj[number] == 0) return;
    for (const ChannelUse& use : schedule.routes[number].channels) {
      const LinkId link = schedule.channels[use.channel].link;
      if (link.valid()) breakdown.channels[use.channel].energy_pj += bits * link_pj_per_bit(hardware[link]);
    }
  };
  for (const ScheduledTile& tile : schedule.tiles) {
    const TileCost& cost = schedule.costs[tile.cost];
    const MemoryId from = streams_from(schedule, tile), to = streams_to(schedule, tile);
    if (from.valid()) breakdown.memories[from.index()].read_bytes += cost.home_read_bits / 8;
    if (to.valid()) breakdown.memories[to.index()].written_bytes += cost.home_write_bits / 8;
    stream(tile.read_route, cost.home_read_bits);
    stream(tile.write_route, cost.home_write_bits);
  }

  for (std::size_t i = 0; i < route_bits.size(); ++i) {
    for (const ChannelUse& use : schedule.routes[i].channels)
      breakdown.channels[use.channel].bytes += route_bits[i] / 8;
  }
  for (std::size_t i = 0; i < breakdown.channels.size(); ++i) {
    const double width = schedule.channels[i].bits_per_cycle;
    if (width > 0) breakdown.channels[i].busy_cycles = 8 * breakdown.channels[i].bytes / width;
  }
  return breakdown;
}

}  // namespace monet
