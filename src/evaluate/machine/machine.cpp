#include "evaluate/machine/machine.h"

#include "mapping/key.h"
#include "mapping/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace monet {

namespace {

// What makes the costs of a core: its units with their memories, and what it may run.
std::string key_of_core(const Hardware& hardware, CoreId id) {
  const Core& core = hardware[id];
  std::string key;
  for (std::size_t unit = 0; unit < core.units.size(); ++unit) {
    if (auto target = target_of(hardware, id, unit, off_chip_memory(hardware, id))) key += key_of(*target);
  }
  for (const std::string& op : core.operators) key += op + "\n";
  // What was measured on a core is its own.
  if (core.rate) key += fmt::format("rate {}", core.type);
  return key;
}

bool are_equal(const Port& a, const Port& b) {
  return a.kind == b.kind && a.min_bits == b.min_bits && a.max_bits == b.max_bits &&
         a.words_per_cycle == b.words_per_cycle;
}

// By memory and transfer: the port that cores use for it, as the machine's file says; else the first that fits.
std::vector<std::array<std::int8_t, transfer_count>> ports_by_transfer(const Hardware& hardware) {
  std::vector<std::array<std::int8_t, transfer_count>> all(hardware.memories.size());
  for (auto& ports : all) ports.fill(no_port);
  for (const Core& core : hardware.cores) {
    for (const Level& level : core.levels) {
      for (const auto& path : level.port) {
        for (std::size_t t = 0; t < transfer_count; ++t) {
          std::int8_t& port = all[level.memory.index()][t];
          if (port == no_port) port = path[t];
        }
      }
    }
  }
  for (std::size_t m = 0; m < all.size(); ++m) {
    const auto& ports = hardware.memories[m].ports;
    for (std::size_t t = 0; t < transfer_count; ++t) {
      if (all[m][t] != no_port) continue;
      const auto found =
          std::ranges::find_if(ports, [&](const Port& port) { return fits(port.kind, static_cast<Transfer>(t)); });
      if (found != ports.end()) all[m][t] = static_cast<std::int8_t>(found - ports.begin());
    }
  }
  return all;
}

}  // namespace

Expected<HomeChoice> home_choice(const Hardware& hardware, const std::string& name, std::int64_t room_bytes) {
  if (name.empty()) return HomeChoice{};
  std::vector<std::string> stores;
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    const Memory& memory = hardware.memories[m];
    if (memory.kind != MemoryKind::storage) continue;
    stores.push_back(memory.name);
    if (memory.name != name) continue;
    const bool written = std::ranges::any_of(memory.ports, [](const Port& p) { return p.kind != PortKind::read; });
    if (written) return HomeChoice{.memory = MemoryId(m), .room_bytes = room_bytes};
    return Error{.message = fmt::format("data cannot be at home in {}, which can only be read", name),
                 .place = "--home",
                 .advice = "page frozen weights to it (--page), and keep the rest in memory"};
  }
  return Error{
      .message = fmt::format("{} has no storage '{}'", hardware.name, name),
      .place = "--home",
      .advice = stores.empty() ? "it has none; leave --home out" : fmt::format("it has {}", fmt::join(stores, ", "))};
}

RoutedMachine::RoutedMachine(const Hardware& hardware, const HomeChoice& choice)
    : hardware_(&hardware), choice_(choice) {
  find_places();
  make_channels();
  std::vector<bool> hubs = is_home_;
  for (std::size_t m = 0; m < hubs.size(); ++m) {
    if (hardware.memories[m].kind == MemoryKind::storage) hubs[m] = true;
  }
  ways_ = Ways(hardware, hubs, true);
  ways_beside_buses_ = Ways(hardware, std::move(hubs), false);
}

Status RoutedMachine::check() const {
  for (std::size_t c = 0; c < cores_.size(); ++c) {
    const auto& home = cores_[c].home;
    const auto fail = [&](std::string what, std::string advice) {
      return Error{.message = std::move(what), .place = hardware_->cores[c].name, .advice = std::move(advice)};
    };
    for (std::size_t p = 0; p < path_count; ++p) {
      if (!home[p].valid() && lives_in_storage()) {
        return fail(fmt::format("data cannot be at home in {}: it is not next to the memory that the core works in",
                                (*hardware_)[choice_.memory].name),
                    "use it to page to, or give the core's memories that storage as the outermost");
      }
      if (lives_in_storage() && !cores_[c].local[p].valid()) {
        return fail(fmt::format("it has no memory for the path '{}' below {}, and cannot work on storage",
                                name_of(static_cast<Path>(p)), (*hardware_)[home[p]].name),
                    "give it one");
      }
      if (!home[p].valid()) {
        return fail(fmt::format("it has no memory for the path '{}'", name_of(static_cast<Path>(p))),
                    "give it one, or join it to one by a link");
      }
      if (home[p] == home[0]) continue;
      return fail(fmt::format("its paths end in different memories, {} and {}", (*hardware_)[home[0]].name,
                              (*hardware_)[home[p]].name),
                  "give it one above them, for input, weight and output");
    }
  }
  return Done{};
}

void RoutedMachine::find_places() {
  const Hardware& hardware = *hardware_;
  is_home_.assign(hardware.memories.size(), false);
  users_.assign(hardware.memories.size(), 0);
  capacity_.reserve(hardware.memories.size());
  for (const Memory& memory : hardware.memories) capacity_.push_back(memory.size_bits / 8);
  std::map<std::string, std::uint32_t> kinds;
  for (std::size_t c = 0; c < hardware.cores.size(); ++c) {
    const Core& core = hardware.cores[c];
    CorePlaces places;
    const MemoryId outer = off_chip_memory(hardware, CoreId(c));
    for (std::size_t p = 0; p < path_count; ++p) {
      std::vector<const Level*> levels;
      for (const Level& level : core.levels) {
        if (level.holds(static_cast<Path>(p)) && hardware[level.memory].kind != MemoryKind::storage) {
          levels.push_back(&level);
        }
      }
      if (lives_in_storage()) {
        if (!outer.valid() && std::ranges::find(core.levels, choice_.memory, &Level::memory) != core.levels.end()) {
          places.home[p] = choice_.memory;
        }
      } else if (outer.valid()) {
        places.home[p] = outer;
      } else if (!levels.empty()) {
        places.home[p] = levels.back()->memory;
        levels.pop_back();
      }
      if (places.home[p].valid()) is_home_[places.home[p].index()] = true;
      if (!levels.empty() && hardware[levels.back()->memory].kind != MemoryKind::registers) {
        places.local[p] = levels.back()->memory;
        // A level that is there several times holds so much in all.
        const std::int64_t all = hardware[levels.back()->memory].size_bits / 8 * instances(core, *levels.back());
        capacity_[levels.back()->memory.index()] = std::max(capacity_[levels.back()->memory.index()], all);
      }
    }
    for (const MemoryId local : places.local) {
      if (!local.valid() || choice_.room_bytes == 0) continue;
      capacity_[local.index()] = choice_.room_bytes;
    }
    for (const Level& level : core.levels) {
      const auto first = std::ranges::find(core.levels, level.memory, &Level::memory);
      if (&*first == &level) ++users_[level.memory.index()];
    }
    const auto [kind, added] = kinds.emplace(key_of_core(hardware, CoreId(c)), first_of_kind_.size());
    if (added) {
      first_of_kind_.push_back(c);
      cores_of_kind_.emplace_back();
    }
    places.kind = kind->second;
    cores_of_kind_[kind->second].push_back(CoreId(c));
    cores_.push_back(places);
  }
}

void RoutedMachine::make_channels() {
  const Hardware& hardware = *hardware_;
  const auto number = [&] { return static_cast<std::uint32_t>(channels_.size()); };
  for (std::size_t l = 0; l < hardware.links.size(); ++l) {
    const Link& link = hardware.links[l];
    first_link_channel_.push_back(number());
    channels_.push_back({.name = link.name, .link = LinkId(l), .memory = {}, .bits_per_cycle = link.bits_per_cycle});
    if (link.kind == LinkKind::bus || !link.both_ways) continue;
    channels_.push_back(
        {.name = link.name + " (back)", .link = LinkId(l), .memory = {}, .bits_per_cycle = link.bits_per_cycle});
  }
  std::vector<bool> outside = is_home_;  // of the inside of cores
  for (const CorePlaces& core : cores_) {
    for (MemoryId local : core.local) {
      if (local.valid()) outside[local.index()] = true;
    }
  }
  port_channels_.resize(hardware.memories.size());
  transfer_ports_.resize(hardware.memories.size());
  const auto by_transfer = ports_by_transfer(hardware);
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    const Memory& memory = hardware.memories[m];
    transfer_ports_[m].fill(no_channel);
    const bool on_chip = memory.kind == MemoryKind::registers || memory.kind == MemoryKind::sram;
    if (on_chip && users_[m] > 0 && !outside[m]) continue;
    std::vector<std::uint32_t>& channel_of = port_channels_[m];
    channel_of.assign(memory.ports.size(), no_channel);
    for (std::size_t p = 0; p < memory.ports.size(); ++p) {
      if (channel_of[p] != no_channel) continue;
      std::vector<std::string_view> names;
      for (std::size_t other = p; other < memory.ports.size(); ++other) {
        if (!are_equal(memory.ports[other], memory.ports[p])) continue;
        channel_of[other] = number();
        names.push_back(memory.ports[other].name);
      }
      channels_.push_back({.name = fmt::format("{} port {}", memory.name, fmt::join(names, ", ")),
                           .link = {},
                           .memory = MemoryId(m),
                           .port = static_cast<std::int8_t>(p),
                           .ports = static_cast<std::int8_t>(names.size()),
                           .bits_per_cycle = memory.ports[p].bits_per_cycle() * static_cast<double>(names.size())});
    }
    for (std::size_t t = 0; t < transfer_count; ++t) {
      if (by_transfer[m][t] != no_port) transfer_ports_[m][t] = port_channel(MemoryId(m), by_transfer[m][t]);
    }
  }
}

std::uint32_t RoutedMachine::port_channel(MemoryId id, std::int8_t port) const {
  const std::vector<std::uint32_t>& channel_of = port_channels_[id.index()];
  return channel_of.empty() ? no_channel : channel_of[static_cast<std::size_t>(port)];
}

Route RoutedMachine::find_route(MemoryId from, MemoryId to, bool with_buses) {
  const Hardware& hardware = *hardware_;
  Route route{.from = from, .to = to, .channels = {}};
  const auto hops = (with_buses ? ways_ : ways_beside_buses_).between(from, to);
  // What comes down from a home leaves it as it does in a mapping; all else goes up, or across.
  const bool down = is_home(from) && !is_home(to);
  const bool up = is_home(to) && !is_home(from);
  const auto channel_for = [&](MemoryId id, Transfer transfer) {
    return transfer_ports_[id.index()][static_cast<std::size_t>(transfer)];
  };
  const std::uint32_t out = channel_for(from, down ? Transfer::to_low : Transfer::to_high);
  const std::uint32_t in = channel_for(to, up ? Transfer::from_low : Transfer::from_high);
  // Nothing leads there; or a memory can only be read, or only be written.
  if (!hops || (out == no_channel && !hardware[from].ports.empty()) ||
      (in == no_channel && !hardware[to].ports.empty())) {
    return route;
  }
  if (out != no_channel) route.channels.emplace_back(out);
  for (const Hop& hop : *hops) {
    const Link& link = hardware[hop.link];
    route.channels.emplace_back(first_link_channel_[hop.link.index()] + (hop.forward ? 0 : 1));
    route.latency_cycles += link.latency_cycles;
    route.pj_per_bit += link.energy_pj_per_bit;
    if (link.bits_per_cycle > 0) route.pj_per_bit += link.energy_pj_per_cycle / link.bits_per_cycle;
  }
  if (in != no_channel) route.channels.emplace_back(in);
  const auto latency = [&](MemoryId id, double own) {
    const Memory& memory = hardware[id];
    if (memory.kind == MemoryKind::storage) return own > 0 ? own : memory.latency_cycles;
    return hardware.effects.memory_latency ? memory.latency_cycles : 0.0;
  };
  route.latency_cycles += latency(from, hardware[from].read_latency_cycles);
  route.latency_cycles += latency(to, hardware[to].write_latency_cycles);
  route.bits_per_cycle = std::numeric_limits<double>::infinity();
  for (const ChannelUse& use : route.channels) {
    route.bits_per_cycle = std::min(route.bits_per_cycle, channels_[use.channel].each());
  }
  for (ChannelUse& use : route.channels) {
    const Channel& channel = channels_[use.channel];
    if (!channel.memory.valid()) continue;
    const Port& port = hardware[channel.memory].ports[static_cast<std::size_t>(channel.port)];
    const auto width = static_cast<double>(port.max_bits);
    use.share = width / std::clamp(route.bits_per_cycle,
                                   std::min(width, std::max(1.0, static_cast<double>(port.min_bits))), width);
  }
  for (const ChannelUse& use : route.channels) {
    route.bits_per_cycle = std::min(route.bits_per_cycle, channels_[use.channel].each() / use.share);
  }
  return route;
}

std::uint32_t RoutedMachine::route(MemoryId from, MemoryId to) { return number_of(from, to, true); }

Expected<std::uint32_t> RoutedMachine::needed_route(MemoryId from, MemoryId to) {
  const std::uint32_t found = route(from, to);
  if (found != no_route) return found;
  return Error{.message = fmt::format("nothing leads from {} to {}", (*hardware_)[from].name, (*hardware_)[to].name),
               .place = hardware_->name,
               .advice = "join them by a link"};
}

std::uint32_t RoutedMachine::detour(MemoryId from, MemoryId to) { return number_of(from, to, false); }

std::uint32_t RoutedMachine::number_of(MemoryId from, MemoryId to, bool with_buses) {
  // No machine has 2^31 memories.
  const std::uint64_t key = (std::uint64_t{from.index()} << 1U | (with_buses ? 1U : 0U)) << 32U | to.index();
  const auto [known, added] = route_of_.try_emplace(key, no_route);
  if (!added) return known->second;
  Route found = find_route(from, to, with_buses);
  if (found.channels.empty()) return no_route;
  known->second = static_cast<std::uint32_t>(routes_.size());
  routes_.push_back(std::move(found));
  return known->second;
}

double RoutedMachine::least_cycles(MemoryId from, MemoryId to, double bits) {
  const Ways::Reach way = ways_.reach(from, to);
  double width = way.bits_per_cycle;
  const auto pass = [&](MemoryId id, Transfer transfer) {
    const std::uint32_t port = transfer_ports_[id.index()][static_cast<std::size_t>(transfer)];
    if (port != no_channel) {
      width = std::min(width, channels_[port].each());
    } else if (!(*hardware_)[id].ports.empty()) {
      width = 0;
    }
  };
  pass(from, Transfer::to_high);
  pass(to, Transfer::from_high);
  return way.latency_cycles + bits / width;
}

double RoutedMachine::home_bits_per_cycle(CoreId core) const {
  double widest = 0;
  const MemoryId home = cores_[core.index()].home[static_cast<std::size_t>(Path::input)];
  if (!home.valid()) return 0;
  for (const Port& port : (*hardware_)[home].ports) widest = std::max(widest, port.bits_per_cycle());
  return widest;
}

bool RoutedMachine::has_bus(std::uint32_t route) const {
  return std::ranges::any_of(routes_[route].channels, [&](const ChannelUse& use) {
    const LinkId link = channels_[use.channel].link;
    return link.valid() && (*hardware_)[link].kind == LinkKind::bus;
  });
}

}  // namespace monet
