#include "mapping/target.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

std::uint32_t all_dimensions(const Unit& unit) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << unit.dimensions.size()) - 1);
}

// The wires between a memory and the level below it.
void attach(TargetMemory& memory, const Link& link) {
  memory.link_bits = link.bits_per_cycle;
  memory.link_pj_per_bit = link.energy_pj_per_bit;
  memory.link_latency_cycles = link.latency_cycles;
  if (link.bits_per_cycle > 0) memory.link_pj_per_bit += link.energy_pj_per_cycle / link.bits_per_cycle;
}

// What of a memory does not depend on who uses it.
TargetMemory memory_of(const Hardware& hardware, MemoryId id) {
  const Memory& memory = hardware[id];
  TargetMemory result{.name = memory.name, .memory = id, .kind = memory.kind, .size_bits = memory.size_bits};
  result.read_pj = memory.read_pj;
  result.write_pj = memory.write_pj;
  result.latency_cycles = memory.latency_cycles;
  result.double_buffered = memory.double_buffered;
  result.network_pj_per_bit = memory.network_pj_per_bit;
  result.ports = memory.ports;
  return result;
}

TargetMemory own_memory(const Hardware& hardware, const Core& core, const Level& level, std::uint32_t served) {
  TargetMemory result = memory_of(hardware, level.memory);
  result.port = level.port;
  result.served = served;
  result.instances = instances(core, level);
  result.static_w = hardware[level.memory].static_w * static_cast<double>(result.instances);
  if (level.link.valid()) attach(result, hardware[level.link]);
  return result;
}

// A vector unit stands beside the array: it sees the memories that the whole array shares.
bool seen_by(const Core& core, std::size_t unit, const Level& level) {
  if (unit == 0) return true;
  return (level.served & all_dimensions(core.units[0])) == all_dimensions(core.units[0]);
}

const Link* link_between(const Hardware& hardware, CoreId core, MemoryId memory) {
  for (const Link& link : hardware.links) {
    const bool has_core = std::ranges::find(link.ends, End{.core = core}) != link.ends.end();
    const bool has_memory = std::ranges::find(link.ends, End{.memory = memory}) != link.ends.end();
    if (has_core && has_memory) return &link;
  }
  return nullptr;
}

std::int8_t port_for(const Memory& memory, bool read) {
  for (std::size_t i = 0; i < memory.ports.size(); ++i) {
    const PortKind kind = memory.ports[i].kind;
    if (kind == PortKind::read_write || (kind == PortKind::read) == read) return static_cast<std::int8_t>(i);
  }
  return no_port;
}

// A memory of the system that is no level of the core, used as one: every path passes through it.
Expected<TargetMemory> outer_memory(const Hardware& hardware, CoreId core, MemoryId id, const Unit& unit) {
  const Memory& memory = hardware[id];
  const Link* link = link_between(hardware, core, id);
  if (link == nullptr) {
    return Error{.message = fmt::format("no link joins core {} to memory {}", hardware[core].name, memory.name),
                 .advice = "join them by a link or a bus"};
  }
  TargetMemory result = memory_of(hardware, id);
  result.served = all_dimensions(unit);
  attach(result, *link);
  for (auto& path : result.port) {
    for (std::size_t transfer = 0; transfer < transfer_count; ++transfer) {
      path[transfer] = port_for(memory, is_read(static_cast<Transfer>(transfer)));
    }
  }
  return result;
}

}  // namespace

Expected<Target> target_of(const Hardware& hardware, CoreId core_id, std::size_t unit, MemoryId outer) {
  const Core& core = hardware[core_id];
  Target target{.unit = core.units[unit],
                .memories = {},
                .levels = {},
                .effects = hardware.effects,
                .clock_hz = hardware.clock_hz,
                .static_w = core.static_w};
  for (const Level& level : core.levels) {
    if (level.memory == outer) outer = {};
    if (!seen_by(core, unit, level)) continue;
    TargetMemory memory = own_memory(hardware, core, level, unit == 0 ? level.served : all_dimensions(target.unit));
    const auto users = std::ranges::count_if(hardware.cores, [&](const Core& other) {
      return std::ranges::any_of(other.levels, [&](const Level& l) { return l.memory == level.memory; });
    });
    if (users > 1) memory.static_w = 0;
    target.static_w += memory.static_w;
    target.memories.push_back(std::move(memory));
  }
  if (outer.valid()) {
    MONET_TRY(TargetMemory memory, outer_memory(hardware, core_id, outer, target.unit));
    target.memories.push_back(std::move(memory));
  }
  for (std::size_t path = 0; path < path_count; ++path) {
    for (std::size_t i = 0; i < target.memories.size(); ++i) {
      const auto& ports = target.memories[i].port[path];
      if (std::ranges::any_of(ports, [](std::int8_t port) { return port != no_port; })) {
        target.levels[path].push_back(static_cast<std::uint8_t>(i));
      }
    }
    if (target.levels[path].empty()) {
      return Error{.message = fmt::format("core {} has no memory for {}s", core.name, name_of(static_cast<Path>(path))),
                   .place = hardware.name,
                   .advice = "list the path under `paths` of a memory"};
    }
  }
  return target;
}

}  // namespace monet
