#include "evaluate/account/energy.h"

#include "evaluate/account/price.h"
#include "evaluate/account/route_traffic.h"

#include <algorithm>

namespace monet {

namespace {

double& of_precision(Energy& energy, const std::string& name) {
  const auto found = std::ranges::find_if(energy.compute, [&](const auto& part) { return part.first == name; });
  return found != energy.compute.end() ? found->second : energy.compute.emplace_back(name, 0.0).second;
}

void add_tiles(const Hardware& hardware, const Schedule& schedule, Energy& energy) {
  std::vector<double> count(schedule.costs.size(), 0);
  for (const ScheduledTile& tile : schedule.tiles) {
    ++count[tile.cost];
    const TileCost& cost = schedule.costs[tile.cost];
    const std::vector<Level>& levels = hardware[tile.core].levels;
    for (std::size_t i = 0; i < cost.level_pj.size(); ++i) {
      const MemoryId memory = i < levels.size() ? levels[i].memory : schedule.home_of[tile.core.index()];
      if (cost.level_pj[i] != 0) energy.memory[memory.index()] += cost.level_pj[i];
    }
  }
  for (std::size_t i = 0; i < count.size(); ++i) {
    if (count[i] == 0) continue;
    const TileCost& cost = schedule.costs[i];
    of_precision(energy, cost.precision) += count[i] * cost.compute_pj;
    energy.network += count[i] * cost.network_pj;
  }
}

// Over links that are part of no level.
void add_streams(const Hardware& hardware, const Schedule& schedule, Energy& energy) {
  const std::vector<double> link_pj = streaming_link_pj(hardware, schedule);
  const auto add = [&](std::uint32_t number, double bits) {
    if (number == no_route || link_pj[number] == 0) return;
    for (const ChannelUse& use : schedule.routes[number].channels) {
      const LinkId link = schedule.channels[use.channel].link;
      if (link.valid()) energy.link[link.index()] += bits * link_pj_per_bit(hardware[link]);
    }
  };
  for (const ScheduledTile& tile : schedule.tiles) {
    add(tile.read_route, schedule.costs[tile.cost].home_read_bits);
    add(tile.write_route, schedule.costs[tile.cost].home_write_bits);
  }
}

void add_transfers(const Hardware& hardware, const Schedule& schedule, Energy& energy) {
  const std::vector<RoutePrice> prices = route_prices(hardware, schedule);
  const auto traffic = route_traffic(schedule, prices);
  for (std::size_t i = 0; i < traffic.size(); ++i) {
    const Route& route = schedule.routes[i];
    const RoutePrice& price = prices[i];
    double moved = 0;
    for (std::size_t kind = 0; kind < transfer_kinds; ++kind) {
      const RouteTraffic& kinds = traffic[i][kind];
      if (kinds.arrived_bits == 0) continue;
      const double read = kinds.read_bits * price.read.pj_per_bit;
      const double written = kinds.written_bits * price.write.pj_per_bit;
      const double wires = kinds.bits * price.wires_pj_per_bit(static_cast<TransferKind>(kind));
      energy.memory[route.from.index()] += read;
      energy.memory[route.to.index()] += written;
      energy.network += wires;
      energy.transfers[kind] += read + written + wires + kinds.bits * price.link_pj_per_bit;
      moved += kinds.bits;
    }
    if (moved == 0) continue;
    for (const ChannelUse& use : route.channels) {
      const LinkId link = schedule.channels[use.channel].link;
      if (link.valid()) energy.link[link.index()] += moved * link_pj_per_bit(hardware[link]);
    }
  }
}

}  // namespace

Energy energy_of(const Hardware& hardware, const Schedule& schedule) {
  Energy energy;
  energy.memory.assign(hardware.memories.size(), 0);
  energy.link.assign(hardware.links.size(), 0);
  add_tiles(hardware, schedule, energy);
  add_streams(hardware, schedule, energy);
  add_transfers(hardware, schedule, energy);
  if (!schedule.whole_power) energy.static_pj = static_pj(hardware, schedule.cycles);
  for (const auto& part : energy.compute) energy.total += part.second;
  for (const double part : energy.memory) energy.total += part;
  for (const double part : energy.link) energy.total += part;
  energy.total += energy.network;
  energy.total += energy.static_pj;
  return energy;
}

}  // namespace monet
