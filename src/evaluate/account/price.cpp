#include "evaluate/account/price.h"

#include <algorithm>

namespace monet {

namespace {

struct EndPorts {
  std::int8_t read = no_port, write = no_port;
};

std::int8_t first_port(const Memory& memory, Transfer transfer) {
  const auto found = std::ranges::find_if(memory.ports, [&](const Port& port) { return fits(port.kind, transfer); });
  return found == memory.ports.end() ? no_port : static_cast<std::int8_t>(found - memory.ports.begin());
}

// By memory: those that a core uses for data from and to what is above, else the first that can.
std::vector<EndPorts> end_ports(const Hardware& hardware) {
  std::vector<EndPorts> ports(hardware.memories.size());
  for (const Core& core : hardware.cores) {
    for (const Level& level : core.levels) {
      EndPorts& end = ports[level.memory.index()];
      for (const auto& path : level.port) {
        if (end.read == no_port) end.read = path[static_cast<std::size_t>(Transfer::to_high)];
        if (end.write == no_port) end.write = path[static_cast<std::size_t>(Transfer::from_high)];
      }
    }
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].read == no_port) ports[i].read = first_port(hardware.memories[i], Transfer::to_high);
    if (ports[i].write == no_port) ports[i].write = first_port(hardware.memories[i], Transfer::from_high);
  }
  return ports;
}

AccessPrice access_price(const Memory& memory, std::int8_t index, double word_pj) {
  if (index == no_port) return {};
  const Port& port = memory.ports[static_cast<std::size_t>(index)];
  const std::int64_t piece = memory.page_bits > 0 ? memory.page_bits : port.min_bits;
  return {.piece_bits = static_cast<double>(std::max<std::int64_t>(1, piece)),
          .pj_per_bit = port.max_bits > 0 ? word_pj / static_cast<double>(port.max_bits) : 0};
}

}  // namespace

double link_pj_per_bit(const Link& link) {
  const double by_cycle = link.bits_per_cycle > 0 ? link.energy_pj_per_cycle / link.bits_per_cycle : 0;
  return link.energy_pj_per_bit + by_cycle;
}

std::vector<RoutePrice> route_prices(const Hardware& hardware, const Schedule& schedule) {
  const std::vector<EndPorts> ports = end_ports(hardware);
  std::vector<RoutePrice> prices(schedule.routes.size());
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const Route& route = schedule.routes[i];
    RoutePrice& price = prices[i];
    const Memory& from = hardware[route.from];
    const Memory& to = hardware[route.to];
    std::int8_t read = ports[route.from.index()].read;
    std::int8_t write = ports[route.to.index()].write;
    for (const ChannelUse& use : route.channels) {
      const Channel& channel = schedule.channels[use.channel];
      if (channel.link.valid()) price.link_pj_per_bit += link_pj_per_bit(hardware[channel.link]);
      if (channel.memory.valid() && channel.memory == route.from) read = channel.port;
      if (channel.memory.valid() && channel.memory == route.to) write = channel.port;
    }
    price.read = access_price(from, read, from.read_pj);
    price.write = access_price(to, write, to.write_pj);
    if (!hardware.effects.network_energy) continue;
    price.from_wires_pj_per_bit = from.network_pj_per_bit;
    price.to_wires_pj_per_bit = to.network_pj_per_bit;
  }
  return prices;
}

double transfer_pj(const RoutePrice& price, const ScheduledTransfer& transfer) {
  const double moved = bits(transfer);
  const double written = price.write.whole(moved) * price.write.pj_per_bit;
  if (transfer.joined) return written;
  return written + price.read.whole(moved) * price.read.pj_per_bit +
         moved * (price.link_pj_per_bit + price.wires_pj_per_bit(transfer.kind));
}

std::vector<double> streaming_link_pj(const Hardware& hardware, const Schedule& schedule) {
  std::vector<bool> over_links(hardware.memories.size(), false);
  for (const Core& core : hardware.cores) {
    for (const Level& level : core.levels) {
      if (level.over_links) over_links[level.memory.index()] = true;
    }
  }
  std::vector<double> pj(schedule.routes.size(), 0);
  for (std::size_t i = 0; i < pj.size(); ++i) {
    const Route& route = schedule.routes[i];
    if (over_links[route.from.index()] || over_links[route.to.index()]) pj[i] = route.pj_per_bit;
  }
  return pj;
}

double streamed_pj(std::span<const double> link_pj, const ScheduledTile& tile, const TileCost& cost) {
  double pj = 0;
  if (tile.read_route != no_route) pj += link_pj[tile.read_route] * cost.home_read_bits;
  if (tile.write_route != no_route) pj += link_pj[tile.write_route] * cost.home_write_bits;
  return pj;
}

double static_w(const Hardware& hardware) {
  if (!hardware.effects.static_energy) return 0;
  std::vector<std::int64_t> users(hardware.memories.size(), 0);
  std::vector<std::int64_t> count(hardware.memories.size(), 1);
  double watts = hardware.static_w;
  for (const Core& core : hardware.cores) {
    watts += core.static_w;
    for (const Level& level : core.levels) {
      const std::size_t memory = level.memory.index();
      count[memory] = ++users[memory] == 1 ? instances(core, level) : 1;
    }
  }
  for (std::size_t i = 0; i < count.size(); ++i) watts += hardware.memories[i].static_w * static_cast<double>(count[i]);
  for (const Link& link : hardware.links) watts += link.static_w;
  return watts;
}

double static_pj(const Hardware& hardware, double cycles) {
  return hardware.clock_hz > 0 ? static_w(hardware) * 1e12 * cycles / hardware.clock_hz : 0;
}

}  // namespace monet
