#include "compat/zigzag/machine.h"

#include "base/try.h"
#include "compat/zigzag/python.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::zigzag {

namespace {

constexpr std::array all_paths{Path::input, Path::weight, Path::output};
constexpr std::array all_transfers{Transfer::from_high, Transfer::to_low, Transfer::from_low, Transfer::to_high};

constexpr std::array path_names{"inputs (I1)", "weights (I2)", "outputs (O)"};

std::size_t at(Path path) { return static_cast<std::size_t>(path); }
std::size_t at(Transfer transfer) { return static_cast<std::size_t>(transfer); }

bool holds(const TargetMemory& memory, Path path) {
  return std::ranges::any_of(memory.port[at(path)], [](std::int8_t port) { return port != no_port; });
}

void add_ports(const TargetMemory& from, MachineMemory& memory) {
  std::vector<std::int8_t> index(from.ports.size(), no_port);
  for (std::size_t p = 0; p < from.ports.size(); ++p) {
    const Port& port = from.ports[p];
    MachinePort made{static_cast<double>(port.min_bits), static_cast<double>(port.max_bits), port.name, {}, false};
    bool inputs = false;
    bool weights = false;
    for (Path path : memory.paths) {
      for (Transfer transfer : all_transfers) {
        if (from.port[at(path)][at(transfer)] != static_cast<std::int8_t>(p)) continue;
        made.served.push_back({path, memory.level[at(path)], transfer});
        inputs |= path == Path::input;
        weights |= path == Path::weight;
      }
    }
    if (made.served.empty()) continue;
    made.both_inputs = inputs && weights;
    index[p] = static_cast<std::int8_t>(memory.ports.size());
    memory.ports.push_back(std::move(made));
  }
  for (Path path : all_paths) {
    for (Transfer transfer : all_transfers) {
      const std::int8_t port = from.port[at(path)][at(transfer)];
      memory.port[at(path)][at(transfer)] = port == no_port ? no_port : index[static_cast<std::size_t>(port)];
    }
  }
}

// A memory is joined to what ZigZag finds as the top of each path so far: of the memories with the path, those whose
// level is greatest, where a memory's level is the greatest it has on any path.
std::vector<std::vector<std::uint8_t>> edges(const std::vector<MachineMemory>& memories) {
  std::vector<std::vector<std::uint8_t>> above(memories.size());
  const auto level = [](const MachineMemory& memory) {
    std::uint8_t greatest = 0;
    for (Path path : memory.paths) greatest = std::max(greatest, memory.level[at(path)]);
    return greatest;
  };
  for (std::size_t m = 0; m < memories.size(); ++m) {
    std::vector<bool> below(m, false);
    for (Path path : memories[m].paths) {
      int top = -1;
      for (std::size_t i = 0; i < m; ++i) {
        if (std::ranges::find(memories[i].paths, path) != memories[i].paths.end())
          top = std::max<int>(top, level(memories[i]));
      }
      for (std::size_t i = 0; i < m; ++i) {
        const bool has = std::ranges::find(memories[i].paths, path) != memories[i].paths.end();
        if (has && level(memories[i]) == top) below[i] = true;
      }
    }
    for (std::size_t i = 0; i < m; ++i) {
      if (below[i]) above[i].push_back(static_cast<std::uint8_t>(m));
    }
  }
  return above;
}

// Generation by generation: memories below which nothing is left come next, in the order in which that happens.
void sort_memories(Machine& machine) {
  const auto above = edges(machine.memories);
  std::vector<int> waits(machine.memories.size(), 0);
  for (const auto& list : above) {
    for (std::uint8_t m : list) ++waits[m];
  }
  for (std::size_t m = 0; m < waits.size(); ++m) {
    if (waits[m] == 0) machine.inner.push_back(static_cast<std::uint8_t>(m));
  }
  std::vector<std::uint8_t> generation = machine.inner;
  while (!generation.empty()) {
    std::vector<std::uint8_t> next;
    for (std::uint8_t m : generation) {
      machine.order.push_back(m);
      for (std::uint8_t higher : above[m]) {
        if (--waits[higher] == 0) next.push_back(higher);
      }
    }
    generation = std::move(next);
  }
}

Status check_sizes(const Target& target) {
  if (target.unit.dimensions.size() > max_dimensions) {
    return Error{ErrorKind::user,
                 fmt::format("the array has {} dimensions", target.unit.dimensions.size()),
                 {},
                 fmt::format("give at most {}", max_dimensions)};
  }
  if (target.memories.size() > max_memories) {
    return Error{ErrorKind::user,
                 fmt::format("there are {} memories", target.memories.size()),
                 {},
                 fmt::format("give at most {}", max_memories)};
  }
  for (const UnitDimension& dimension : target.unit.dimensions) {
    if (dimension.size >= 1 && dimension.size <= max_lanes) continue;
    return Error{ErrorKind::user,
                 fmt::format("dimension {} of the array has size {}", dimension.name, dimension.size),
                 {},
                 fmt::format("give 1 to {}", max_lanes)};
  }
  for (const TargetMemory& memory : target.memories) {
    if (memory.size_bits < 1) {
      return Error{ErrorKind::user, fmt::format("memory {} has no bits", memory.name), {}, "give its size"};
    }
    for (const Port& port : memory.ports) {
      if (port.min_bits >= 1 && port.max_bits >= port.min_bits) continue;
      return Error{
          ErrorKind::user,
          fmt::format("port {} of memory {} moves {} to {} bits", port.name, memory.name, port.min_bits, port.max_bits),
          {},
          "give at least 1, and no more at least than at most"};
    }
  }
  return Done{};
}

Status check_ports(const Machine& machine) {
  for (Path path : all_paths) {
    const auto& levels = machine.levels[at(path)];
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const bool top = i + 1 == levels.size();
      const auto& port = machine.memories[levels[i]].port[at(path)];
      const auto needs = [&](Transfer transfer) {
        if (path == Path::output) {
          return transfer == Transfer::from_low || (!top && transfer == Transfer::to_high);
        }
        return transfer == Transfer::to_low || (!top && transfer == Transfer::from_high);
      };
      constexpr std::array words{"from the level above", "to the level below", "from the level below",
                                 "to the level above"};
      for (Transfer transfer : all_transfers) {
        if (!needs(transfer) || port[at(transfer)] != no_port) continue;
        return Error{ErrorKind::user,
                     fmt::format("memory {} has no port for {} {}", machine.names[levels[i]], path_names[at(path)],
                                 words[at(transfer)]),
                     {},
                     "ZigZag needs it; allocate the transfer to a port"};
      }
    }
  }
  return Done{};
}

}  // namespace

Expected<Machine> machine_of(const Target& target) {
  MONET_RETURN_IF_ERROR(check_sizes(target));
  Machine machine;
  for (const UnitDimension& dimension : target.unit.dimensions) {
    machine.hashes.push_back(dimension_hash(dimension.name, machine.dimensions.size()));
    machine.dimensions.push_back(dimension.name);
    machine.sizes.push_back(dimension.size);
    machine.lanes *= static_cast<double>(dimension.size);
  }
  machine.mac_pj = target.unit.energy_pj[static_cast<std::size_t>(Count::mac)];
  std::array<std::uint8_t, path_count> count{};
  for (const TargetMemory& from : target.memories) {
    MachineMemory memory;
    memory.size_bits = static_cast<double>(from.size_bits);
    memory.read_pj = from.read_pj;
    memory.write_pj = from.write_pj;
    for (Path path : all_paths) {
      if (!holds(from, path)) continue;
      memory.paths.push_back(path);
      memory.level[at(path)] = count[at(path)]++;
    }
    std::vector<std::uint8_t> served;
    std::vector<std::uint64_t> hashes;
    for (std::size_t d = 0; d < machine.dimensions.size(); ++d) {
      if ((from.served >> d & 1U) == 0) continue;
      served.push_back(static_cast<std::uint8_t>(d));
      hashes.push_back(machine.hashes[d]);
    }
    for (std::uint8_t i : set_order(hashes)) memory.served.push_back(served[i]);
    add_ports(from, memory);
    machine.memories.push_back(std::move(memory));
    machine.names.push_back(from.name);
  }
  for (Path path : all_paths) {
    if (count[at(path)] == 0 || count[at(path)] > max_levels) {
      return Error{ErrorKind::user,
                   fmt::format("the path of {} has {} memories", path_names[at(path)], count[at(path)]),
                   {},
                   fmt::format("ZigZag needs 1 to {}", max_levels)};
    }
  }
  sort_memories(machine);
  for (std::uint8_t m : machine.order) {
    for (Path path : machine.memories[m].paths) machine.levels[at(path)].push_back(m);
  }
  MONET_RETURN_IF_ERROR(check_ports(machine));
  return machine;
}

}  // namespace monet::zigzag
