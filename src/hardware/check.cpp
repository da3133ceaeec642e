#include "hardware/check.h"

#include "base/checked.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace monet {

namespace {

constexpr std::int64_t max_array_size = std::int64_t{1} << 40;
constexpr std::int64_t max_bits = std::int64_t{1} << 60;

bool share_path(const Level& a, const Level& b) {
  for (std::size_t p = 0; p < path_count; ++p) {
    if (a.holds(static_cast<Path>(p)) && b.holds(static_cast<Path>(p))) return true;
  }
  return false;
}

bool is_cost(double value) { return std::isfinite(value) && value >= 0; }

class Checker {
 public:
  Checker(const Hardware& hardware, const HardwarePlaces& places) : hardware_(hardware), places_(places) {}

  Status run() {
    if (!(hardware_.clock_hz >= 0) || !std::isfinite(hardware_.clock_hz)) {
      return fail(places_.machine, "a clock below 0", "write clock: 500 MHz");
    }
    if (hardware_.cores.empty()) return fail(places_.machine, "the machine has no cores", "write cores: …");
    if (!is_cost(hardware_.static_w) || !is_cost(hardware_.area_mm2)) {
      return fail(places_.machine, "a power or area that is negative or not finite");
    }
    for (std::size_t i = 0; i < hardware_.memories.size(); ++i) MONET_RETURN_IF_ERROR(check_memory(i));
    for (std::size_t i = 0; i < hardware_.links.size(); ++i) MONET_RETURN_IF_ERROR(check_link(i));
    for (std::size_t i = 0; i < hardware_.cores.size(); ++i) {
      MONET_RETURN_IF_ERROR(check_core(i));
      MONET_RETURN_IF_ERROR(check_levels(i));
      MONET_RETURN_IF_ERROR(check_paths(i));
    }
    MONET_RETURN_IF_ERROR(check_use());
    return check_reach();
  }

 private:
  static Error fail(const Place& place, std::string message, std::string advice = {}) {
    return {.message = std::move(message), .place = place.text(), .advice = std::move(advice)};
  }

  template <class T>
  static T at(const std::vector<T>& list, std::size_t index) {
    return index < list.size() ? list[index] : T{};
  }
  Place core_place(std::size_t i) const { return at(places_.cores, i); }
  Place memory_place(std::size_t i) const { return at(places_.memories, i); }
  Place level_place(std::size_t core, std::size_t level) const { return at(at(places_.levels, core), level); }
  Place port_place(std::size_t memory, std::size_t port) const { return at(at(places_.ports, memory), port); }

  Status check_memory(std::size_t i) const {
    const Memory& memory = hardware_.memories[i];
    const Place place = memory_place(i);
    if (memory.size_bits <= 0 || memory.size_bits > max_bits) {
      return fail(place,
                  fmt::format("the size of the memory '{}' cannot be {} bit", shown(memory.name), memory.size_bits));
    }
    for (const double cost :
         {memory.read_pj, memory.write_pj, memory.latency_cycles, memory.network_pj_per_bit, memory.static_w,
          memory.area_mm2, memory.read_latency_cycles, memory.write_latency_cycles}) {
      if (!is_cost(cost)) {
        return fail(place, fmt::format("a cost of the memory '{}' is negative or not finite", shown(memory.name)));
      }
    }
    if (memory.ports.empty()) return fail(place, fmt::format("the memory '{}' has no ports", shown(memory.name)));
    if (memory.page_bits < 0 || memory.page_bits > memory.size_bits) {
      return fail(place, fmt::format("the page of the memory '{}' is larger than the memory", shown(memory.name)));
    }
    for (std::size_t p = 0; p < memory.ports.size(); ++p) {
      const Port& port = memory.ports[p];
      if (port.min_bits <= 0 || port.min_bits > port.max_bits || !(port.words_per_cycle > 0) ||
          !std::isfinite(port.words_per_cycle)) {
        return fail(port_place(i, p), fmt::format("the port '{}' of the memory '{}' has an impossible width",
                                                  shown(port.name), shown(memory.name)));
      }
      if (port.max_bits > memory.size_bits) {
        return fail(port_place(i, p),
                    fmt::format("the port '{}' is wider ({} bit) than the memory '{}' is large ({} bit)",
                                shown(port.name), port.max_bits, shown(memory.name), memory.size_bits));
      }
    }
    return Done{};
  }

  Status check_link(std::size_t i) const {
    const Link& link = hardware_.links[i];
    const Place place = at(places_.links, i);
    if (link.ends.size() < 2 || (link.kind == LinkKind::link && link.ends.size() != 2)) {
      return fail(place, fmt::format("the link '{}' has {} ends", shown(link.name), link.ends.size()));
    }
    for (const End& end : link.ends) {
      const bool core = end.core.valid() && end.core.index() < hardware_.cores.size();
      const bool memory = end.memory.valid() && end.memory.index() < hardware_.memories.size();
      if (core == memory) return fail(place, fmt::format("the link '{}' ends nowhere", shown(link.name)));
    }
    if (!(link.bits_per_cycle > 0) || !std::isfinite(link.bits_per_cycle)) {
      return fail(place, fmt::format("the link '{}' has no width", shown(link.name)));
    }
    for (const double cost :
         {link.latency_cycles, link.energy_pj_per_bit, link.energy_pj_per_cycle, link.static_w, link.area_mm2}) {
      if (!is_cost(cost))
        return fail(place, fmt::format("a cost of the link '{}' is negative or not finite", shown(link.name)));
    }
    return Done{};
  }

  Status check_core(std::size_t i) const {
    const Core& core = hardware_.cores[i];
    const std::string name = shown(core.name);
    if (core.units.empty() && !core.rate) {
      return fail(core_place(i), fmt::format("the core '{}' has neither units nor a rate", name),
                  "write array: …, vector: … or rate: …");
    }
    for (const Unit& unit : core.units) {
      std::int64_t lanes = 1;
      for (const UnitDimension& dimension : unit.dimensions) {
        const auto product = checked_multiply(lanes, dimension.size);
        if (dimension.size <= 0 || !product || *product > max_array_size) {
          return fail(core_place(i),
                      fmt::format("the {} of the core '{}' has an impossible size", shown(unit.name), name));
        }
        lanes = *product;
      }
      if (unit.dimensions.size() > 31)
        return fail(core_place(i), fmt::format("the core '{}' has too many dimensions", name));
      if (std::none_of(unit.cycles.begin(), unit.cycles.end(), [](double cycles) { return cycles > 0; })) {
        return fail(core_place(i), fmt::format("the {} of the core '{}' can do nothing", shown(unit.name), name),
                    "list its operations");
      }
      for (std::size_t kind = 0; kind < count_kinds; ++kind) {
        if (!is_cost(unit.cycles[kind]) || !is_cost(unit.energy_pj[kind])) {
          return fail(core_place(i), fmt::format("the core '{}' has operations with impossible costs", name));
        }
      }
    }
    for (std::size_t kind = 0; core.rate && kind < count_kinds; ++kind) {
      if (!is_cost(core.rate->operations_per_s[kind]) || !is_cost(core.rate->energy_pj[kind])) {
        return fail(core_place(i), fmt::format("the core '{}' has operations with impossible costs", name));
      }
    }
    if (!is_cost(core.static_w) || !is_cost(core.area_mm2)) {
      return fail(core_place(i), fmt::format("a power or area of the core '{}' is negative or not finite", name));
    }
    return Done{};
  }

  Status check_levels(std::size_t i) const {
    const Core& core = hardware_.cores[i];
    const std::size_t dimensions = core.units.empty() ? 0 : core.units.front().dimensions.size();
    std::vector<MemoryId> seen;
    for (std::size_t l = 0; l < core.levels.size(); ++l) {
      const Level& level = core.levels[l];
      const Place place = level_place(i, l);
      if (!level.memory.valid() || level.memory.index() >= hardware_.memories.size()) {
        return fail(place, fmt::format("the core '{}' has a level without a memory", shown(core.name)));
      }
      const Memory& memory = hardware_[level.memory];
      if (std::find(seen.begin(), seen.end(), level.memory) != seen.end()) {
        return fail(place, fmt::format("the memory '{}' is a level of the core '{}' twice", shown(memory.name),
                                       shown(core.name)));
      }
      seen.push_back(level.memory);
      if (level.served >> dimensions != 0) {
        return fail(place,
                    fmt::format("the memory '{}' serves dimensions that the core does not have", shown(memory.name)));
      }
      if (level.link.valid() && level.link.index() >= hardware_.links.size()) {
        return fail(place, fmt::format("the memory '{}' is reached by a link that does not exist", shown(memory.name)));
      }
      if (!checked_multiply(instances(core, level), memory.size_bits)) {
        return fail(place,
                    fmt::format("all instances of the memory '{}' are larger than any machine", shown(memory.name)));
      }
      bool used = false;
      for (std::size_t p = 0; p < path_count; ++p) {
        used |= level.holds(static_cast<Path>(p));
        MONET_RETURN_IF_ERROR(check_ports(level, static_cast<Path>(p), place));
      }
      if (!used) {
        return fail(place, fmt::format("no path uses the memory '{}'", shown(memory.name)),
                    "write paths: [input, weight, output], and ports that move them");
      }
    }
    return Done{};
  }

  Status check_ports(const Level& level, Path path, const Place& place) const {
    const Memory& memory = hardware_[level.memory];
    for (std::size_t t = 0; t < transfer_count; ++t) {
      const std::int8_t index = level.port[static_cast<std::size_t>(path)][t];
      if (index == no_port) continue;
      const auto transfer = static_cast<Transfer>(t);
      if (index < 0 || static_cast<std::size_t>(index) >= memory.ports.size()) {
        return fail(place, fmt::format("the memory '{}' has no port number {}", shown(memory.name), index));
      }
      const Port& port = memory.ports[static_cast<std::size_t>(index)];
      if (!fits(port.kind, transfer)) {
        return fail(place, fmt::format("the port '{}' of the memory '{}' is of kind {}: it cannot do {}",
                                       shown(port.name), shown(memory.name), name_of(port.kind), name_of(transfer)));
      }
    }
    return Done{};
  }

  Status check_paths(std::size_t i) const {
    const Core& core = hardware_.cores[i];
    if (core.units.empty()) return Done{};
    const bool has_products = std::any_of(core.units.begin(), core.units.end(), [](const Unit& unit) {
      return unit.cycles[static_cast<std::size_t>(Count::mac)] > 0;
    });
    for (std::size_t p = 0; p < path_count; ++p) {
      const auto path = static_cast<Path>(p);
      std::vector<std::size_t> levels;
      for (std::size_t l = 0; l < core.levels.size(); ++l) {
        if (core.levels[l].holds(path)) levels.push_back(l);
      }
      if (levels.empty() && (path != Path::weight || has_products)) {
        return fail(core_place(i),
                    fmt::format("the path '{}' of the core '{}' has no memory", name_of(path), shown(core.name)),
                    fmt::format("add '{}' to the paths of a memory that has ports for it", name_of(path)));
      }
      for (std::size_t k = 0; k < levels.size(); ++k) {
        MONET_RETURN_IF_ERROR(check_passage(i, levels[k], path, k + 1 < levels.size()));
        if (k > 0) MONET_RETURN_IF_ERROR(check_order(i, levels[k - 1], levels[k]));
      }
    }
    return Done{};
  }

  // Data must be able to pass: down for operands, up for results.
  Status check_passage(std::size_t i, std::size_t l, Path path, bool has_above) const {
    const Level& level = hardware_.cores[i].levels[l];
    const auto& ports = level.port[static_cast<std::size_t>(path)];
    const bool result = path == Path::output;
    const Transfer below = result ? Transfer::from_low : Transfer::to_low;
    const Transfer above = result ? Transfer::to_high : Transfer::from_high;
    for (const Transfer transfer : {below, above}) {
      if (transfer == above && !has_above) continue;
      if (ports[static_cast<std::size_t>(transfer)] != no_port) continue;
      return fail(level_place(i, l),
                  fmt::format("no port of the memory '{}' moves {} {}", shown(hardware_[level.memory].name),
                              name_of(path), name_of(transfer)),
                  fmt::format("add a port that can {}: moves: [{} {}]", is_read(transfer) ? "read" : "write",
                              name_of(path), name_of(transfer)));
    }
    return Done{};
  }

  Status check_order(std::size_t i, std::size_t below, std::size_t above) const {
    const Core& core = hardware_.cores[i];
    const Memory& low_memory = hardware_[core.levels[below].memory];
    const Memory& high_memory = hardware_[core.levels[above].memory];
    const auto on_chip = [](const Memory& memory) {
      return memory.kind == MemoryKind::registers || memory.kind == MemoryKind::sram;
    };
    if (on_chip(high_memory) && !on_chip(low_memory)) {
      return fail(level_place(i, above),
                  fmt::format("the memory '{}' ({}) stands above '{}' ({})", shown(high_memory.name),
                              name_of(high_memory.kind), shown(low_memory.name), name_of(low_memory.kind)),
                  "list memories lowest first");
    }
    return Done{};
  }

  // Every memory, and every port of one that cores use, must serve for something.
  Status check_use() const {
    std::vector<std::vector<bool>> port_used(hardware_.memories.size());
    std::vector<bool> is_level(hardware_.memories.size());
    std::vector<bool> is_joined(hardware_.memories.size());
    for (const Link& link : hardware_.links) {
      for (const End& end : link.ends) {
        if (end.memory.valid()) is_joined[end.memory.index()] = true;
      }
    }
    for (const Core& core : hardware_.cores) {
      for (const Level& level : core.levels) {
        const std::size_t memory = level.memory.index();
        is_level[memory] = true;
        port_used[memory].resize(hardware_.memories[memory].ports.size());
        for (const auto& path : level.port) {
          for (const std::int8_t port : path) {
            if (port != no_port) port_used[memory][static_cast<std::size_t>(port)] = true;
          }
        }
      }
    }
    for (std::size_t i = 0; i < hardware_.memories.size(); ++i) {
      const Memory& memory = hardware_.memories[i];
      // Storage belongs to the machine: pages go to it from any memory.
      if (!is_level[i] && !is_joined[i] && memory.kind != MemoryKind::storage) {
        return fail(
            memory_place(i), fmt::format("no core uses the memory '{}', and no link leads to it", shown(memory.name)),
            fmt::format("make it a level of a core: memories: {{{0}: {{use: {0}}}}}, or join it", shown(memory.name)));
      }
      for (std::size_t p = 0; p < port_used[i].size(); ++p) {
        if (port_used[i][p] || is_joined[i]) continue;
        return fail(port_place(i, p),
                    fmt::format("the port '{}' of the memory '{}' moves nothing", shown(memory.ports[p].name),
                                shown(memory.name)),
                    "write what it moves, for example moves: [weight to_low], or remove it");
      }
    }
    return Done{};
  }

  // All cores must be joined by links and common memories.
  Status check_reach() const {
    const std::size_t cores = hardware_.cores.size();
    std::vector<std::size_t> group(cores + hardware_.memories.size());
    std::iota(group.begin(), group.end(), std::size_t{0});
    const auto root = [&](std::size_t part) {
      while (group[part] != part) part = group[part] = group[group[part]];
      return part;
    };
    const auto node = [&](const End& end) { return end.core.valid() ? end.core.index() : cores + end.memory.index(); };
    for (const Link& link : hardware_.links) {
      for (const End& end : link.ends) group[root(node(end))] = root(node(link.ends.front()));
    }
    for (std::size_t i = 0; i < cores; ++i) {
      for (const Level& level : hardware_.cores[i].levels) group[root(cores + level.memory.index())] = root(i);
    }
    std::vector<std::size_t> members(group.size());
    for (std::size_t i = 0; i < cores; ++i) ++members[root(i)];
    const auto largest = static_cast<std::size_t>(std::max_element(members.begin(), members.end()) - members.begin());
    for (std::size_t i = 0; i < cores; ++i) {
      if (root(i) == largest) continue;
      return fail(core_place(i), fmt::format("nobody can reach the core '{}'", shown(hardware_.cores[i].name)),
                  "join it by a link or bus, or let it use a memory that others use");
    }
    return Done{};
  }

  const Hardware& hardware_;
  const HardwarePlaces& places_;
};

}  // namespace

Status check(const Hardware& hardware, const HardwarePlaces& places) { return Checker(hardware, places).run(); }

std::vector<std::string> doubts(const Hardware& hardware) {
  std::vector<std::string> notes;
  std::set<std::string> types;
  for (const Core& core : hardware.cores) {
    if (!types.insert(core.type).second) continue;
    for (std::size_t high = 0; high < core.levels.size(); ++high) {
      for (std::size_t low = 0; low < high; ++low) {
        if ((core.levels[low].served & ~core.levels[high].served) == 0 ||
            !share_path(core.levels[low], core.levels[high])) {
          continue;
        }
        notes.push_back(fmt::format("core {}: the memory '{}' serves fewer dimensions than '{}' below it",
                                    shown(core.type), shown(hardware[core.levels[high].memory].name),
                                    shown(hardware[core.levels[low].memory].name)));
      }
    }
  }
  return notes;
}

}  // namespace monet
