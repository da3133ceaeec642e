// What tiles take, while they run, of the ports of memories and, where they stream, of the way to home.
#pragma once

#include "evaluate/schedule/bookings.h"
#include "evaluate/schedule/tile_places.h"

#include <cstdint>
#include <vector>

namespace monet::scheduling {

class Ports {
 public:
  // Reserves the ports of memories that a core has for itself for its tiles: before anything is booked.
  Ports(const ScheduleInput& input, const TilePlaces& places, Bookings& bookings);

  // Books the share of a tile from its start on: it runs as long as that makes it.
  Status occupy(TileId tile, ScheduledTile& scheduled);

 private:
  // The channel of a port; no_channel: nobody shares it.
  std::uint32_t channel_of(CoreId core, const PortUse& use) const {
    return channels_[first_[core.index()] + use.level * max_ports_ + static_cast<std::size_t>(use.port)];
  }
  void find_channels();
  void reserve();
  // Between home and the core's own memory; where it has none, there is no way to share.
  Expected<std::uint32_t> stream_route(TileId tile, bool reads);

  const ScheduleInput& in_;
  RoutedMachine& machine_;
  const TilePlaces& places_;
  Bookings& bookings_;
  std::size_t max_ports_ = 0;
  std::vector<std::size_t> first_;            // by core
  std::vector<std::uint32_t> channels_;       // by core, level and port
  std::vector<std::uint32_t> stream_routes_;  // by core, reads or writes, and path
  std::vector<ChannelUse> uses_;
};

}  // namespace monet::scheduling
