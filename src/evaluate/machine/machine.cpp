#include "evaluate/machine/machine.h"

#include "mapping/key.h"
#include "mapping/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>

namespace monet {

namespace {

constexpr std::uint16_t unknown_route = 0xfffe;

bool is_level(const Core& core, MemoryId memory) {
  return std::ranges::find(core.levels, memory, &Level::memory) != core.levels.end();
}

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

// The port that cores use for it, as the machine's file says; else the first that fits.
std::int8_t port_for(const Hardware& hardware, MemoryId id, Transfer transfer) {
  for (const Core& core : hardware.cores) {
    for (const Level& level : core.levels) {
      if (level.memory != id) continue;
      for (const auto& path : level.port) {
        if (const std::int8_t port = path[static_cast<std::size_t>(transfer)]; port != no_port) return port;
      }
    }
  }
  const auto& ports = hardware[id].ports;
  const auto found = std::ranges::find_if(ports, [&](const Port& port) { return fits(port.kind, transfer); });
  return found == ports.end() ? no_port : static_cast<std::int8_t>(found - ports.begin());
}

}  // namespace

Machine::Machine(const Hardware& hardware) : hardware_(&hardware) {
  find_places();
  find_steps();
  route_of_.assign(hardware.memories.size() * hardware.memories.size(), unknown_route);
}

Status Machine::check() const {
  for (std::size_t c = 0; c < cores_.size(); ++c) {
    const auto& home = cores_[c].home;
    const auto fail = [&](std::string what, std::string advice) {
      return Error{.message = std::move(what), .place = hardware_->cores[c].name, .advice = std::move(advice)};
    };
    for (std::size_t p = 0; p < path_count; ++p) {
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

void Machine::find_places() {
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
      if (outer.valid()) {
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
    for (std::size_t m = 0; m < hardware.memories.size(); ++m) users_[m] += is_level(core, MemoryId(m)) ? 1 : 0;
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

void Machine::find_steps() {
  const Hardware& hardware = *hardware_;
  const std::size_t cores = hardware.cores.size();
  steps_.resize(cores + hardware.memories.size());
  for (std::size_t c = 0; c < cores; ++c) {
    for (const Level& level : hardware.cores[c].levels) {
      const std::size_t memory = cores + level.memory.index();
      if (level.link.valid()) continue;  // the link says it
      steps_[c].push_back({memory, {}, true});
      steps_[memory].push_back({c, {}, true});
    }
  }
  const auto node_of = [&](const End& end) { return end.core.valid() ? end.core.index() : cores + end.memory.index(); };
  for (std::size_t l = 0; l < hardware.links.size(); ++l) {
    const Link& link = hardware.links[l];
    for (std::size_t a = 0; a < link.ends.size(); ++a) {
      for (std::size_t b = 0; b < link.ends.size(); ++b) {
        if (a == b) continue;
        const bool forward = a < b || link.kind == LinkKind::bus;
        if (!forward && !link.both_ways) continue;
        steps_[node_of(link.ends[a])].push_back({node_of(link.ends[b]), LinkId(l), forward});
      }
    }
  }
}

std::uint16_t Machine::channel_of(LinkId id, bool forward) {
  const Link& link = (*hardware_)[id];
  const auto [found, added] = link_channels_.emplace(std::pair(id.index(), forward), channels_.size());
  if (added) {
    channels_.push_back({.name = forward ? link.name : link.name + " (back)",
                         .link = id,
                         .memory = {},
                         .bits_per_cycle = link.bits_per_cycle});
  }
  return found->second;
}

std::uint16_t Machine::channel_of(MemoryId id, Transfer transfer) {
  const std::int8_t port = port_for(*hardware_, id, transfer);
  return port == no_port ? no_route : port_channel(id, port);
}

std::uint16_t Machine::port_channel(MemoryId id, std::int8_t port) {
  const Memory& memory = (*hardware_)[id];
  const Port& asked = memory.ports[static_cast<std::size_t>(port)];
  std::vector<std::size_t> equal;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < memory.ports.size(); ++i) {
    if (!are_equal(memory.ports[i], asked)) continue;
    equal.push_back(i);
    names.push_back(memory.ports[i].name);
  }
  const auto first = static_cast<std::int8_t>(equal.front());
  const auto [found, added] = port_channels_.emplace(std::pair(id.index(), first), channels_.size());
  if (added) {
    channels_.push_back({.name = fmt::format("{} port {}", memory.name, fmt::join(names, ", ")),
                         .link = {},
                         .memory = id,
                         .port = first,
                         .ports = static_cast<std::int8_t>(equal.size()),
                         .bits_per_cycle = asked.bits_per_cycle() * static_cast<double>(equal.size())});
  }
  return found->second;
}

void Machine::find_ways(MemoryId from) {
  if (ways_from_ == from) return;
  ways_from_ = from;
  const std::size_t cores = hardware_->cores.size();
  ways_.assign(steps_.size(), {});
  struct Open {
    std::size_t links;
    double width;
    std::size_t node;
    bool operator<(const Open& other) const {
      if (links != other.links) return links > other.links;
      if (width != other.width) return width < other.width;
      return node > other.node;
    }
  };
  std::priority_queue<Open> open;
  const std::size_t start = cores + from.index();
  ways_[start] = {.links = 0, .width = std::numeric_limits<double>::infinity()};
  open.push({0, ways_[start].width, start});
  while (!open.empty()) {
    const Open now = open.top();
    open.pop();
    if (now.links != ways_[now.node].links || now.width != ways_[now.node].width) continue;
    // Cores pass data on, memories do not.
    if (now.node >= cores && now.node != start) continue;
    for (const Step& step : steps_[now.node]) {
      const std::size_t links = now.links + (step.link.valid() ? 1 : 0);
      const double width = step.link.valid() ? std::min(now.width, (*hardware_)[step.link].bits_per_cycle) : now.width;
      Way& way = ways_[step.node];
      if (links > way.links || (links == way.links && width <= way.width)) continue;
      way = {links, width, now.node, step};
      open.push({links, width, step.node});
    }
  }
}

Route Machine::find_route(MemoryId from, MemoryId to) {
  const Hardware& hardware = *hardware_;
  const std::size_t start = hardware.cores.size() + from.index();
  const std::size_t goal = hardware.cores.size() + to.index();
  find_ways(from);
  Route route{.from = from, .to = to, .channels = {}};
  if (ways_[goal].links == std::numeric_limits<std::size_t>::max()) return route;
  const auto add = [&](std::uint16_t channel) {
    if (channel != no_route) route.channels.emplace_back(channel);
  };
  for (std::size_t node = goal; node != start; node = ways_[node].before) {
    const Step& step = ways_[node].step;
    if (!step.link.valid()) continue;
    const Link& link = hardware[step.link];
    add(channel_of(step.link, step.forward));
    route.latency_cycles += link.latency_cycles;
    route.pj_per_bit += link.energy_pj_per_bit;
    if (link.bits_per_cycle > 0) route.pj_per_bit += link.energy_pj_per_cycle / link.bits_per_cycle;
  }
  std::ranges::reverse(route.channels);
  // What comes down from a home leaves it as it does in a mapping; all else goes up, or across.
  const bool down = is_home(from) && !is_home(to);
  const bool up = is_home(to) && !is_home(from);
  const std::uint16_t out = channel_of(from, down ? Transfer::to_low : Transfer::to_high);
  const std::uint16_t in = channel_of(to, up ? Transfer::from_low : Transfer::from_high);
  // A memory that can only be read, or only be written.
  if ((out == no_route && !hardware[from].ports.empty()) || (in == no_route && !hardware[to].ports.empty())) {
    return {.from = from, .to = to, .channels = {}};
  }
  if (out != no_route) route.channels.insert(route.channels.begin(), ChannelUse(out));
  add(in);
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

std::uint16_t Machine::route(MemoryId from, MemoryId to) {
  std::uint16_t& known = route_of_[from.index() * hardware_->memories.size() + to.index()];
  if (known != unknown_route) return known;
  Route found = find_route(from, to);
  known = no_route;
  if (!found.channels.empty() && routes_.size() < unknown_route) {
    known = static_cast<std::uint16_t>(routes_.size());
    routes_.push_back(std::move(found));
  }
  return known;
}

double Machine::home_bits_per_cycle(CoreId core) const {
  double widest = 0;
  const MemoryId home = cores_[core.index()].home[static_cast<std::size_t>(Path::input)];
  if (!home.valid()) return 0;
  for (const Port& port : (*hardware_)[home].ports) widest = std::max(widest, port.bits_per_cycle());
  return widest;
}

bool Machine::has_bus(std::uint16_t route) const {
  return std::ranges::any_of(routes_[route].channels, [&](const ChannelUse& use) {
    const LinkId link = channels_[use.channel].link;
    return link.valid() && (*hardware_)[link].kind == LinkKind::bus;
  });
}

}  // namespace monet
