#include "hardware/totals.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

double macs_per_cycle(const Hardware& hardware, bool composed) {
  double macs = 0;
  for (const Core& core : hardware.cores) {
    double best = 0;
    for (const Unit& unit : core.units) {
      const double cycles = unit.cycles[static_cast<std::size_t>(Count::mac)];
      if (cycles == 0 || composes_macs(unit) != composed) continue;
      best = std::max(best, static_cast<double>(unit.lanes()) / cycles);
    }
    macs += best;
  }
  return macs;
}

// Instances of a core's own memory times what one has; system memories once.
template <class Value>
double over_memories(const Hardware& hardware, const std::set<MemoryId>& system, const Value& value) {
  double total = 0;
  for (const MemoryId id : system) total += value(hardware[id]);
  for (const Core& core : hardware.cores) {
    for (const Level& level : core.levels) {
      if (!system.contains(level.memory))
        total += static_cast<double>(instances(core, level)) * value(hardware[level.memory]);
    }
  }
  return total;
}

}  // namespace

bool composes_macs(const Unit& unit) {
  const auto cycles = [&](Count kind) { return unit.cycles[static_cast<std::size_t>(kind)]; };
  const auto energy = [&](Count kind) { return unit.energy_pj[static_cast<std::size_t>(kind)]; };
  return cycles(Count::add) > 0 && cycles(Count::multiply) > 0 &&
         cycles(Count::mac) == cycles(Count::multiply) + cycles(Count::add) &&
         energy(Count::mac) == energy(Count::multiply) + energy(Count::add);
}

std::set<MemoryId> system_memories(const Hardware& hardware) {
  std::set<MemoryId> all;
  for (std::size_t i = 0; i < hardware.memories.size(); ++i) all.insert(MemoryId(i));
  // A memory is a core's own if its name lies inside the core's.
  for (const Core& core : hardware.cores) {
    for (const Level& level : core.levels) {
      if (hardware[level.memory].name.starts_with(core.name + "/")) all.erase(level.memory);
    }
  }
  return all;
}

namespace {

std::string part_without_area(const Hardware& hardware, const std::set<MemoryId>& system) {
  for (const Core& core : hardware.cores) {
    if (core.area_mm2 == 0 && core.rate) return fmt::format("core {}", core.type);
    for (const Unit& unit : core.units) {
      if (core.area_mm2 == 0 && unit.area_mm2 == 0) return fmt::format("core {}: {}", core.type, unit.name);
    }
  }
  for (std::size_t i = 0; i < hardware.memories.size(); ++i) {
    const Memory& memory = hardware.memories[i];
    const bool inside = memory.kind == MemoryKind::registers || memory.kind == MemoryKind::sram;
    if (!inside || memory.area_mm2 > 0) continue;
    const std::string_view name = memory.name;
    return fmt::format("memory {}", system.contains(MemoryId(i)) ? name : name.substr(name.find_last_of('/') + 1));
  }
  return {};
}

std::string part_without_static_power(const Hardware& hardware) {
  if (hardware.static_w > 0) return {};
  for (const Core& core : hardware.cores) {
    if (core.static_w == 0) return fmt::format("core {}", core.type);
  }
  return {};
}

}  // namespace

MachineTotals totals_of(const Hardware& hardware) {
  const std::set<MemoryId> system = system_memories(hardware);
  MachineTotals totals;
  totals.on_chip_bits = static_cast<std::int64_t>(over_memories(hardware, system, [](const Memory& memory) {
    const bool inside = memory.kind == MemoryKind::registers || memory.kind == MemoryKind::sram;
    return inside ? static_cast<double>(memory.size_bits) : 0.0;
  }));
  totals.dram_bits = static_cast<std::int64_t>(over_memories(hardware, system, [](const Memory& memory) {
    return memory.kind == MemoryKind::dram ? static_cast<double>(memory.size_bits) : 0.0;
  }));
  totals.macs_per_cycle = macs_per_cycle(hardware, false);
  if (totals.macs_per_cycle == 0) totals.macs_per_cycle = macs_per_cycle(hardware, true);
  totals.static_w = hardware.static_w + over_memories(hardware, system, [](const Memory& m) { return m.static_w; });
  totals.area_mm2 = hardware.area_mm2 + over_memories(hardware, system, [](const Memory& m) { return m.area_mm2; });
  for (const Core& core : hardware.cores) {
    totals.static_w += core.static_w;
    totals.area_mm2 += core.area_mm2;
    for (const Unit& unit : core.units) totals.area_mm2 += unit.area_mm2;
  }
  for (const Link& link : hardware.links) {
    totals.static_w += link.static_w;
    totals.area_mm2 += link.area_mm2;
  }
  totals.without_area = part_without_area(hardware, system);
  totals.without_static_power = part_without_static_power(hardware);
  return totals;
}

}  // namespace monet
