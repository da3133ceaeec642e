// Routes lead from memory to memory over parts that the machine has.
#include "evaluate/check/rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet::check {

namespace {

bool differs(double a, double b) { return !(std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b))); }

class Routes {
 public:
  explicit Routes(const CheckContext& context)
      : context_(context), hardware_(context.hardware), schedule_(context.schedule), findings_(context.findings) {}

  void run() {
    for (const Channel& channel : schedule_.channels) {
      double bits = channel.link.valid() ? hardware_[channel.link].bits_per_cycle : 0;
      std::size_t equal = channel.link.valid() ? 1 : 0;
      const std::size_t own = static_cast<std::uint8_t>(channel.port);
      for (std::size_t i = 0; !channel.link.valid() && i < hardware_[channel.memory].ports.size(); ++i) {
        if (!equal_ports(hardware_[channel.memory], own, i)) continue;
        bits += hardware_[channel.memory].ports[i].bits_per_cycle();
        ++equal;
      }
      if (equal != static_cast<std::size_t>(channel.ports)) {
        findings_.add("the channel {} stands for {} ports, the memory has {} that are equal", channel.name,
                      channel.ports, equal);
      }
      if (differs(bits, channel.bits_per_cycle)) {
        findings_.add("the channel {} carries {} bits a cycle, the machine has {}", channel.name,
                      channel.bits_per_cycle, bits);
      }
    }
    for (const Route& route : schedule_.routes) check(route);
  }

 private:
  void check(const Route& route) {
    const auto name = [&] {
      return fmt::format("the route from {} to {}", context_.name(route.from), context_.name(route.to));
    };
    double bits = std::numeric_limits<double>::infinity();
    double latency = 0, pj = 0;
    bool ports_fit = true;
    for (const ChannelUse& use : route.channels) {
      const Channel& channel = schedule_.channels[use.channel];
      bits = std::min(bits, channel.bits_per_cycle / channel.ports / use.share);
      if (channel.link.valid()) {
        const Link& link = hardware_[channel.link];
        latency += link.latency_cycles;
        pj += link.energy_pj_per_bit;
        if (link.bits_per_cycle > 0) pj += link.energy_pj_per_cycle / link.bits_per_cycle;
        if (use.share != 1) findings_.add("{} takes {} of its links' bits for each of its own", name(), use.share);
        continue;
      }
      if (use.share < 1) findings_.add("{} takes less of a port than it moves", name());
      const PortKind kind = hardware_[channel.memory].ports[static_cast<std::size_t>(channel.port)].kind;
      const bool reads = channel.memory == route.from && kind != PortKind::write;
      const bool writes = channel.memory == route.to && kind != PortKind::read;
      ports_fit = ports_fit && (reads || writes);
    }
    if (route.channels.empty()) findings_.add("{} has no channel", name());
    if (!ports_fit) findings_.add("{} uses a port that does not carry it", name());
    if (!route.channels.empty() && differs(bits, route.bits_per_cycle)) {
      findings_.add("{} carries {} bits a cycle, its narrowest channel {}", name(), route.bits_per_cycle, bits);
    }
    if (!context_.not_after(latency, route.latency_cycles)) {
      findings_.add("{} takes {} cycles, its links {}", name(), route.latency_cycles, latency);
    }
    if (differs(pj, route.pj_per_bit)) {
      findings_.add("{} costs {} pJ a bit, its links {}", name(), route.pj_per_bit, pj);
    }
    if (!leads(route)) findings_.add("{} does not lead there", name());
  }

  // A memory and a core with nothing between them.
  bool attached(CoreId core, MemoryId memory) const {
    return std::ranges::any_of(hardware_[core].levels, [&](const Level& level) {
      return level.memory == memory && !level.link.valid() && !level.over_links;
    });
  }
  // Whether one can be at `end` when the parts `at` are reached.
  bool reached(const std::vector<End>& at, const End& end) const {
    return std::ranges::any_of(at, [&](const End& part) {
      if (part == end) return true;
      if (part.core.valid() && end.memory.valid()) return attached(part.core, end.memory);
      return part.memory.valid() && end.core.valid() && attached(end.core, part.memory);
    });
  }
  // Storage may belong to the machine as a whole.
  bool is_everywhere(MemoryId memory) const {
    if (hardware_[memory].kind != MemoryKind::storage) return false;
    const bool linked = std::ranges::any_of(hardware_.links, [&](const Link& link) {
      return std::ranges::find(link.ends, End{.core = {}, .memory = memory}) != link.ends.end();
    });
    return !linked;
  }

  bool leads(const Route& route) const {
    if (is_everywhere(route.from) || is_everywhere(route.to)) return true;
    std::vector<End> at = {End{.core = {}, .memory = route.from}};
    bool links = false;
    for (const ChannelUse& use : route.channels) {
      const Channel& channel = schedule_.channels[use.channel];
      if (!channel.link.valid()) continue;
      links = true;
      const Link& link = hardware_[channel.link];
      // Into the link at one end, out at any other: two ends at which it can be entered let it be left at all of them.
      const bool one_way = link.kind == LinkKind::link && !link.both_ways;
      std::size_t entered = 0;
      std::size_t at_end = link.ends.size();
      for (std::size_t i = 0; i < (one_way ? 1 : link.ends.size()) && entered < 2; ++i) {
        if (!reached(at, link.ends[i])) continue;
        ++entered;
        at_end = i;
      }
      std::vector<End> next;
      if (entered > 0) next = link.ends;
      if (entered == 1) next.erase(next.begin() + static_cast<std::ptrdiff_t>(at_end));
      at = std::move(next);
    }
    const End goal{.core = {}, .memory = route.to};
    if (links) return reached(at, goal);
    const auto joins = [&](const Core& core) {
      const CoreId id(static_cast<std::size_t>(&core - hardware_.cores.data()));
      return attached(id, route.from) && attached(id, route.to);
    };
    return std::ranges::any_of(hardware_.cores, joins);
  }

  const CheckContext& context_;
  const Hardware& hardware_;
  const Schedule& schedule_;
  Findings& findings_;
};

}  // namespace

void check_routes(const CheckContext& context) { Routes(context).run(); }

}  // namespace monet::check
