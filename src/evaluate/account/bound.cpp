#include "evaluate/account/bound.h"

#include "evaluate/account/kept_across.h"
#include "evaluate/account/price.h"
#include "evaluate/account/width.h"
#include "hardware/totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace monet {

namespace {

std::set<MemoryId> homes_of(const Schedule& schedule) {
  std::set<MemoryId> homes;
  for (const MemoryId home : schedule.home_of) {
    if (home.valid()) homes.insert(home);
  }
  return homes;
}

// The core has a memory on chip that data must be brought to.
bool is_apart(const Hardware& hardware, const Core& core, MemoryId home) {
  return std::ranges::any_of(core.levels, [&](const Level& level) {
    return level.memory != home && hardware[level.memory].kind == MemoryKind::sram;
  });
}

bool is_brought(const ScheduledStep& step) {
  for (std::size_t i = 0; i < step.schedule.home_of.size(); ++i) {
    if (!is_apart(step.hardware, step.hardware.cores[i], step.schedule.home_of[i])) return false;
  }
  return true;
}

// The cores and operators that may run nowhere else: cycles if they share the work evenly.
Bounds core_bound(const Hardware& hardware, std::span<const OperatorBound> operators) {
  std::map<std::vector<CoreId>, double> work;
  std::vector<CoreId> all;
  for (const OperatorBound& bound : operators) {
    if (bound.cores.empty()) continue;
    std::vector<CoreId> cores = bound.cores;
    std::ranges::sort(cores);
    all.insert(all.end(), cores.begin(), cores.end());
    work[std::move(cores)] += bound.core_cycles;
  }
  if (work.empty()) return {};
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  work.try_emplace(std::move(all), 0.0);
  Bounds best;
  for (const auto& entry : work) {
    const std::vector<CoreId>& cores = entry.first;
    double cycles = 0;
    for (const auto& [others, more] : work) {
      if (std::ranges::includes(cores, others)) cycles += more;
    }
    cycles /= static_cast<double>(cores.size());
    if (cycles <= best.cycles) continue;
    best.cycles = cycles;
    best.by = cores.size() == 1 ? fmt::format("compute on {}", hardware[cores.front()].name)
                                : fmt::format("compute on {} cores", cores.size());
  }
  return best;
}

double cycles_for(const Compulsory& traffic, const Width& width) {
  const auto time = [](double moved, double wide) { return moved > 0 && wide > 0 ? moved / wide : 0; };
  return std::max({time(traffic.read_bits, width.out), time(traffic.written_bits, width.in),
                   time(traffic.read_bits + traffic.written_bits, width.all)});
}

// Least energy of an access, by the bit.
double access_pj_per_bit(const Hardware& hardware, const std::set<MemoryId>& homes, bool read) {
  double least = std::numeric_limits<double>::infinity();
  for (const MemoryId home : homes) {
    const Memory& memory = hardware[home];
    for (const Port& port : memory.ports) {
      if (port.kind == (read ? PortKind::write : PortKind::read) || port.max_bits <= 0) continue;
      least = std::min(least, (read ? memory.read_pj : memory.write_pj) / static_cast<double>(port.max_bits));
    }
  }
  return least == std::numeric_limits<double>::infinity() ? 0 : least;
}

std::string names_of(const Hardware& hardware, const std::set<MemoryId>& homes) {
  std::vector<std::string> names;
  for (const MemoryId home : homes) names.push_back(hardware[home].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Compulsory compulsory_traffic(const ScheduledStep& step) {
  const auto& [graph, hardware, assignment, tiles, schedule] = step;
  if (!is_brought(step)) return {};
  // Of a buffer at least what one of its readers reads.
  std::vector<std::int64_t> read(tiles.buffers.size(), 0);
  for (const TileRead& part : tiles.reads) {
    const Buffer& buffer = tiles.buffers[part.buffer.index()];
    if (buffer.maker.valid()) continue;
    std::int64_t& bytes = read[part.buffer.index()];
    bytes = std::max(bytes, std::min(tiles.part(part).bytes, buffer.bytes));
  }
  Compulsory traffic;
  for (const std::int64_t bytes : read) traffic.read_bits += 8.0 * static_cast<double>(bytes);

  std::set<TensorId> updated;  // what the step begins with, by its own name
  for (const Buffer& buffer : tiles.buffers) {
    if (!buffer.maker.valid() || !graph[buffer.tensor].updates.valid()) continue;
    TensorId root = buffer.tensor;
    while (graph[root].updates.valid()) root = graph[root].updates;
    if (graph[root].producer.valid() || !updated.insert(root).second) continue;
    for (std::size_t i = tiles.first_buffer[buffer.tensor.index()]; i < tiles.first_buffer[buffer.tensor.index() + 1];
         ++i) {
      traffic.written_bits += 8.0 * static_cast<double>(tiles.buffers[i].bytes);
    }
  }
  return traffic;
}

Compulsory returning_traffic(const ScheduledStep& step) {
  const auto& [graph, hardware, assignment, tiles, schedule] = step;
  const bool paged = std::ranges::any_of(assignment.paged, [](MemoryId id) { return id.valid(); });
  if (paged || !is_brought(step)) return {};
  const std::set<MemoryId> homes = homes_of(schedule);
  auto room_bits = static_cast<double>(totals_of(hardware).on_chip_bits);
  for (std::size_t i = 0; i < hardware.memories.size(); ++i) {
    const Memory& memory = hardware.memories[i];
    if (memory.kind == MemoryKind::dram && !homes.contains(MemoryId(i)))
      room_bits += static_cast<double>(memory.size_bits);
  }
  std::vector<double> bits(graph.tensors().size(), 0);
  for (const Buffer& buffer : tiles.buffers) bits[buffer.tensor.index()] += 8.0 * static_cast<double>(buffer.bytes);
  const KeptAcross kept = kept_across(graph, bits, room_bits);
  return {.read_bits = std::max(0.0, kept.made_bits + kept.given_bits - room_bits),
          .written_bits = std::max(0.0, kept.made_bits - room_bits)};
}

Bounds bounds_of(const ScheduledStep& step, std::span<const OperatorBound> operators, BoundFor plans) {
  const Hardware& hardware = step.hardware;
  Bounds bounds = core_bound(hardware, operators);
  const std::set<MemoryId> homes = homes_of(step.schedule);
  Compulsory traffic = compulsory_traffic(step);
  if (plans == BoundFor::this_step) {
    const Compulsory more = returning_traffic(step);
    traffic.read_bits += more.read_bits;
    traffic.written_bits += more.written_bits;
  }
  const auto offer = [&](double cycles, const char* parts) {
    if (cycles <= bounds.cycles) return;
    bounds.cycles = cycles;
    bounds.by = fmt::format("weights and data through the {} of {}", parts, names_of(hardware, homes));
  };
  offer(cycles_for(traffic, port_width(hardware, homes)), "ports");
  offer(cycles_for(traffic, link_width(hardware, homes)), "links");
  for (const OperatorBound& bound : operators) bounds.pj += bound.pj;
  bounds.pj += traffic.read_bits * access_pj_per_bit(hardware, homes, true) +
               traffic.written_bits * access_pj_per_bit(hardware, homes, false);
  if (!step.schedule.whole_power) bounds.pj += static_pj(hardware, bounds.cycles);
  return bounds;
}

double least_cycles(const ScheduledStep& step) {
  const auto& [graph, hardware, assignment, tiles, schedule] = step;
  std::vector<double> core(hardware.cores.size(), 0);
  std::vector<double> written(tiles.buffers.size(), 0);  // when it can be, by the tiles so far
  double least = 0;
  for (const OperatorTiles& of_node : tiles.operators) {
    for (std::size_t i = of_node.first; i < of_node.first + of_node.count; ++i) {
      const ScheduledTile& tile = schedule.tiles[i];
      double end = 0;
      for (const TileRead& read : tiles.reads_of(TileId(i))) end = std::max(end, written[read.buffer.index()]);
      for (const TileWrite& write : tiles.writes_of(TileId(i))) {
        if (write.adds) end = std::max(end, written[write.buffer.index()]);
      }
      end += schedule.costs[tile.cost].cycles;
      core[tile.core.index()] += schedule.costs[tile.cost].cycles;
      for (const TileWrite& write : tiles.writes_of(TileId(i))) written[write.buffer.index()] = end;
      least = std::max({least, end, core[tile.core.index()]});
    }
  }
  return least;
}

}  // namespace monet
