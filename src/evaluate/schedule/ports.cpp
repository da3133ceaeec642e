#include "evaluate/schedule/ports.h"

#include "base/try.h"

#include <algorithm>

namespace monet::scheduling {

namespace {

void add_share(std::vector<ChannelUse>& uses, std::uint32_t channel, double share) {
  const auto known = std::ranges::find(uses, channel, &ChannelUse::channel);
  if (known != uses.end()) {
    known->share += share;
  } else {
    uses.emplace_back(channel, share);
  }
}

}  // namespace

Ports::Ports(const ScheduleInput& input, const TilePlaces& places, Bookings& bookings)
    : in_(input),
      machine_(input.machine),
      places_(places),
      bookings_(bookings),
      stream_routes_(input.machine.hardware().cores.size() * 2 * path_count, no_route) {
  find_channels();
  reserve();
}

void Ports::find_channels() {
  const Hardware& hardware = machine_.hardware();
  for (const Memory& memory : hardware.memories) max_ports_ = std::max(max_ports_, memory.ports.size());
  for (std::size_t c = 0; c < hardware.cores.size(); ++c) {
    const Core& core = hardware.cores[c];
    first_.push_back(channels_.size());
    channels_.resize(channels_.size() + (core.levels.size() + 1) * max_ports_, no_channel);
    const CorePlaces& places = machine_[CoreId(c)];
    for (std::size_t level = 0; level <= core.levels.size(); ++level) {
      const MemoryId memory = level < core.levels.size() ? core.levels[level].memory : places.home[0];
      const auto among = [&](const auto& list) { return std::ranges::find(list, memory) != list.end(); };
      if (!among(places.local) && !among(places.home)) continue;
      for (std::size_t port = 0; port < hardware[memory].ports.size(); ++port) {
        channels_[first_[c] + level * max_ports_ + port] =
            machine_.port_channel(memory, static_cast<std::int8_t>(port));
      }
    }
  }
}

void Ports::reserve() {
  for (std::size_t t = 0; t < in_.tiles.tiles(); ++t) {
    const TileCost& cost = places_.cost(TileId(t));
    if (cost.cycles <= 0) continue;
    uses_.clear();
    for (const PortUse& use : cost.ports) {
      const std::uint32_t channel = channel_of(places_.core_of(TileId(t)), use);
      if (channel == no_channel) continue;
      const MemoryId memory = machine_.channels()[channel].memory;
      if (!machine_.is_home(memory) && !machine_.is_shared(memory)) add_share(uses_, channel, use.bits / cost.cycles);
    }
    for (const ChannelUse& use : uses_) bookings_.reserve(use.channel, use.share);
  }
}

Status Ports::occupy(TileId tile, ScheduledTile& scheduled) {
  const TileCost& cost = places_.cost(tile);
  if (cost.cycles <= 0) return Done{};
  uses_.clear();
  for (const PortUse& use : cost.ports) {
    const std::uint32_t channel = channel_of(scheduled.core, use);
    if (channel != no_channel) add_share(uses_, channel, use.bits / cost.cycles);
  }
  if (cost.home_read_bits > 0) {
    MONET_TRY(scheduled.read_route, stream_route(tile, true));
  }
  if (cost.home_write_bits > 0) {
    MONET_TRY(scheduled.write_route, stream_route(tile, false));
  }
  // Links that are part of a level are in the tile's own time; those on the way from other cores are not.
  const Hardware& hardware = machine_.hardware();
  const bool over_links = std::ranges::any_of(hardware[scheduled.core].levels, &Level::over_links);
  double hops = 0;
  const auto add_links = [&](std::uint32_t route, double bits) {
    if (route == no_route) return;
    for (const ChannelUse& use : machine_.routes()[route].channels) {
      const LinkId link = machine_.channels()[use.channel].link;
      if (!link.valid()) continue;
      add_share(uses_, use.channel, bits / cost.cycles);
      if (over_links) hops += hardware[link].latency_cycles;
    }
  };
  add_links(scheduled.read_route, cost.home_read_bits);
  add_links(scheduled.write_route, cost.home_write_bits);
  if (!uses_.empty()) scheduled.end = bookings_.book(uses_, scheduled.start, cost.cycles, 1) + hops;
  return Done{};
}

Expected<std::uint32_t> Ports::stream_route(TileId tile, bool reads) {
  const CoreId core = places_.core_of(tile);
  // Sums that go on are read too.
  for (std::size_t path = reads ? 0 : static_cast<std::size_t>(Path::output); path < path_count; ++path) {
    if (!places_.streams(tile, path)) continue;
    std::uint32_t& known = stream_routes_[(core.index() * 2 + (reads ? 0 : 1)) * path_count + path];
    if (known == no_route) {
      const CorePlaces& places = machine_[core];
      MemoryId inner = places.local[path];
      for (std::size_t other = 0; other < path_count && !inner.valid(); ++other) inner = places.local[other];
      if (!inner.valid() || inner == places.home[path]) continue;
      const auto [from, to] = reads ? std::pair(places.home[path], inner) : std::pair(inner, places.home[path]);
      MONET_TRY(known, machine_.needed_route(from, to));
    }
    return known;
  }
  return no_route;
}

}  // namespace monet::scheduling
