// A machine as the schedule sees it: for each core the memory in which the operands of a path wait and the one where
// they are at home, and the routes between memories.
//
// A path's *home* is the highest memory on it, or off-chip memory that a link joins to the core; storage is no home.
// Its *local* memory is the highest level below home that is more than registers; where there is none, the core works
// on its home memory itself.
#pragma once

#include "hardware/hardware.h"

#include <monet/expected.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace monet {

// A part of the machine that several transfers share: a link (one way of it), a bus, a port of a memory. Equal ports of
// a memory are one channel: an access takes whichever of them is free.
struct Channel {
  std::string name;
  LinkId link;      // valid: a link or bus
  MemoryId memory;  // valid: port `port` of it, the first of those that are equal
  std::int8_t port = 0;
  std::int8_t ports = 1;
  double bits_per_cycle = 0;  // of all of them

  double each() const { return bits_per_cycle / ports; }
};

// What a flow of data takes of a channel: so many of its bits for each bit that moves.
struct ChannelUse {
  std::uint16_t channel;
  double share;
  // NOLINTNEXTLINE(google-explicit-constructor): a channel stands for its plain use
  ChannelUse(std::uint16_t used, double bits = 1) : channel(used), share(bits) {}
};

struct Route {
  MemoryId from, to;
  // A port of a memory does one access at a time: an access of fewer bits than its width takes all of it.
  std::vector<ChannelUse> channels;
  double bits_per_cycle = 0;  // of the narrowest
  double latency_cycles = 0;
  double pj_per_bit = 0;  // of its links
};

constexpr std::uint16_t no_route = 0xffff;

struct CorePlaces {
  std::array<MemoryId, path_count> local;  // not valid: the path works on home memory itself
  std::array<MemoryId, path_count> home;
  std::uint32_t kind = 0;  // cores of one kind are equal in cost
};

class Machine {
 public:
  explicit Machine(const Hardware& hardware);

  // Fails when a core has no home memory, or not one for all its paths.
  Status check() const;

  const Hardware& hardware() const { return *hardware_; }
  const CorePlaces& operator[](CoreId core) const { return cores_[core.index()]; }
  std::size_t kinds() const { return first_of_kind_.size(); }
  CoreId first_of_kind(std::size_t kind) const { return CoreId(first_of_kind_[kind]); }
  std::span<const CoreId> cores_of_kind(std::size_t kind) const { return cores_of_kind_[kind]; }
  bool is_home(MemoryId memory) const { return is_home_[memory.index()]; }
  bool is_shared(MemoryId memory) const { return users_[memory.index()] > 1; }
  // Of the widest port of a core's home memory.
  double home_bits_per_cycle(CoreId core) const;
  std::int64_t capacity_bytes(MemoryId memory) const { return capacity_[memory.index()]; }

  // The way from one memory to another with the fewest links, and among those the widest; no_route: there is none.
  std::uint16_t route(MemoryId from, MemoryId to);
  const std::vector<Channel>& channels() const { return channels_; }
  const std::vector<Route>& routes() const { return routes_; }
  // Port `port` of a memory and those equal to it; made when it is first asked for.
  std::uint16_t port_channel(MemoryId id, std::int8_t port);
  // A bus among the channels of a route: what it carries, all its ends may receive.
  bool has_bus(std::uint16_t route) const;

 private:
  struct Step {
    std::size_t node;     // a core, or after them a memory
    LinkId link;          // not valid: attached directly
    bool forward = true;  // along the link, or the way back
  };
  // The best way to a node from where a search began: fewest links first, then the widest.
  struct Way {
    std::size_t links = std::numeric_limits<std::size_t>::max();
    double width = 0;
    std::size_t before = 0;
    Step step{};
  };
  void find_places();
  void find_steps();
  std::uint16_t channel_of(LinkId id, bool forward);
  std::uint16_t channel_of(MemoryId id, Transfer transfer);
  void find_ways(MemoryId from);
  Route find_route(MemoryId from, MemoryId to);

  const Hardware* hardware_;
  std::vector<CorePlaces> cores_;
  std::vector<std::size_t> first_of_kind_;
  std::vector<std::vector<CoreId>> cores_of_kind_;
  std::vector<bool> is_home_;
  std::vector<std::uint32_t> users_;
  std::vector<std::int64_t> capacity_;
  std::vector<std::vector<Step>> steps_;  // by node
  MemoryId ways_from_;                    // where the ways below begin
  std::vector<Way> ways_;                 // by node
  std::vector<Channel> channels_;
  std::map<std::pair<std::size_t, bool>, std::uint16_t> link_channels_;
  std::map<std::pair<std::size_t, std::int8_t>, std::uint16_t> port_channels_;
  std::vector<Route> routes_;
  std::vector<std::uint16_t> route_of_;  // by pair of memories; unknown_route: not looked for yet
};

}  // namespace monet
