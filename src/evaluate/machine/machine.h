// A machine as the schedule sees it: for each core the memory in which the operands of a path wait and the one where
// they are at home, and the routes between memories.
//
// A path's *home* is the highest memory on it, or off-chip memory that a link joins to the core; storage is no home.
// Its *local* memory is the highest level below home that is more than registers; where there is none, the core works
// on its home memory itself.
#pragma once

#include "evaluate/machine/ways.h"
#include "hardware/hardware.h"

#include <monet/expected.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
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
  std::uint32_t channel;
  double share;
  // NOLINTNEXTLINE(google-explicit-constructor): a channel stands for its plain use
  ChannelUse(std::uint32_t used, double bits = 1) : channel(used), share(bits) {}
};

struct Route {
  MemoryId from, to;
  // A port of a memory does one access at a time: an access of fewer bits than its width takes all of it.
  std::vector<ChannelUse> channels;
  double bits_per_cycle = 0;  // of the narrowest
  double latency_cycles = 0;
  double pj_per_bit = 0;  // of its links
};

constexpr std::uint32_t no_route = 0xffffffffU;
constexpr std::uint32_t no_channel = 0xffffffffU;

struct CorePlaces {
  std::array<MemoryId, path_count> local;  // not valid: the path works on home memory itself
  std::array<MemoryId, path_count> home;
  std::uint32_t kind = 0;  // cores of one kind are equal in cost
};

// Storage in which data are at home, beyond the memory that would be home: cores then work in that memory, through
// which data come and go in parts.
struct HomeChoice {
  MemoryId memory;              // not valid: as the machine has it
  std::int64_t room_bytes = 0;  // of the memories below, each is taken to hold so much; 0: what it has
};

// The storage of that name; empty: as the machine has it. Fails where there is none, or it cannot be written.
Expected<HomeChoice> home_choice(const Hardware& hardware, const std::string& name, std::int64_t room_bytes = 0);

class RoutedMachine {
 public:
  explicit RoutedMachine(const Hardware& hardware, const HomeChoice& choice = {});

  // Home is storage: cores cannot work on it, and nothing streams from it.
  bool lives_in_storage() const { return choice_.memory.valid(); }
  // Fails when a core has no home memory, or not one for all its paths.
  Status check() const;

  const Hardware& hardware() const { return *hardware_; }
  const CorePlaces& operator[](CoreId core) const { return cores_[core.index()]; }
  std::size_t kinds() const { return first_of_kind_.size(); }
  CoreId first_of_kind(std::size_t kind) const { return CoreId(first_of_kind_[kind]); }
  std::span<const CoreId> cores_of_kind(std::size_t kind) const { return cores_of_kind_[kind]; }
  bool is_home(MemoryId memory) const { return is_home_[memory.index()]; }
  // Home, or storage: what is on no core has its place there, and all of it must fit.
  bool is_backing(MemoryId memory) const { return is_home(memory) || (*hardware_)[memory].kind == MemoryKind::storage; }
  bool is_shared(MemoryId memory) const { return users_[memory.index()] > 1; }
  // Cores of which it is a level.
  std::int64_t users(MemoryId memory) const { return users_[memory.index()]; }
  // Of the widest port of a core's home memory.
  double home_bits_per_cycle(CoreId core) const;
  std::int64_t capacity_bytes(MemoryId memory) const { return capacity_[memory.index()]; }

  // The way from one memory to another with the fewest links, and among those the widest; no_route: there is none.
  // Found when it is first asked for; its number depends on what was asked before, the way itself does not.
  std::uint32_t route(MemoryId from, MemoryId to);
  // The same; an error if there is none.
  Expected<std::uint32_t> needed_route(MemoryId from, MemoryId to);
  // The same without any bus.
  std::uint32_t detour(MemoryId from, MemoryId to);
  // What a transfer along route() takes at least, without making it; infinite: there is none.
  double least_cycles(MemoryId from, MemoryId to, double bits);
  // Links (one way of each), and the ports of memories that cores work in, that are home, or storage; always the same.
  const std::vector<Channel>& channels() const { return channels_; }
  const std::vector<Route>& routes() const { return routes_; }
  // Port `port` of a memory and those equal to it; no_channel: the memory is inside a core.
  std::uint32_t port_channel(MemoryId id, std::int8_t port) const;
  // A bus among the channels of a route: what it carries, all its ends may receive.
  bool has_bus(std::uint32_t route) const;

 private:
  void find_places();
  void make_channels();
  std::uint32_t number_of(MemoryId from, MemoryId to, bool with_buses);
  Route find_route(MemoryId from, MemoryId to, bool with_buses);

  const Hardware* hardware_;
  HomeChoice choice_;
  std::vector<CorePlaces> cores_;
  std::vector<std::size_t> first_of_kind_;
  std::vector<std::vector<CoreId>> cores_of_kind_;
  std::vector<bool> is_home_;
  std::vector<std::uint32_t> users_;
  std::vector<std::int64_t> capacity_;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> first_link_channel_;                          // by link: forward, then the way back
  std::vector<std::vector<std::uint32_t>> port_channels_;                  // by memory and port
  std::vector<std::array<std::uint32_t, transfer_count>> transfer_ports_;  // by memory: channels
  Ways ways_, ways_beside_buses_;
  std::vector<Route> routes_;
  std::unordered_map<std::uint64_t, std::uint32_t> route_of_;  // by pair of memories, and whether buses may be used
};

}  // namespace monet
