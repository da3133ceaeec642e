#include "hardware/totals.h"

#include <algorithm>

namespace monet {

namespace {

double macs_per_cycle(const Hardware& hardware) {
  double macs = 0;
  for (const Core& core : hardware.cores) {
    double best = 0;
    for (const Unit& unit : core.units) {
      const double cycles = unit.cycles[static_cast<std::size_t>(Count::mac)];
      if (cycles > 0) best = std::max(best, static_cast<double>(unit.lanes()) / cycles);
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
  totals.macs_per_cycle = macs_per_cycle(hardware);
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
  return totals;
}

}  // namespace monet
