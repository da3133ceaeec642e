#include "evaluate/map/mapped_nest.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

std::string size_text(const TemporalLoop& loop) {
  const bool ragged = loop.average < static_cast<double>(loop.size) * (1 - 1e-9);
  return ragged ? fmt::format("{} ({:.4g} on average)", loop.size, loop.average) : fmt::format("{}", loop.size);
}

std::string operand_name(const NestCost& nest, std::size_t o) {
  const ProblemOperand& operand = nest.problem.operands[o];
  const auto same = std::ranges::count_if(nest.problem.operands, [&](const auto& x) { return x.path == operand.path; });
  if (same == 1) return std::string(name_of(operand.path));
  const auto before =
      std::count_if(nest.problem.operands.begin(), nest.problem.operands.begin() + static_cast<std::ptrdiff_t>(o),
                    [&](const auto& x) { return x.path == operand.path; });
  return fmt::format("{} {}", name_of(operand.path), before + 1);
}

// "K on D1"
std::string spatial_name(const NestCost& nest, const SpatialLoop& loop, const Unit* unit) {
  const std::string name = name_of(nest.problem.loops[loop.loop].name);
  return unit != nullptr ? fmt::format("{} on {}", name, unit->dimensions[loop.dimension].name) : name;
}

const std::string& memory_of(const NestCost& nest, std::size_t operand, std::size_t level) {
  return nest.memories[nest.cost.levels[operand][level]];
}

// Does a memory's tile end below temporal loop i?
bool is_cut(const Mapping& mapping, std::size_t i) {
  return std::ranges::any_of(
      mapping.cuts, [&](const auto& cuts) { return std::find(cuts.begin(), cuts.end() - 1, i) != cuts.end() - 1; });
}

// Outermost loop first, as one writes loops; before a loop, the operands whose tile a memory holds inside it. Pieces of
// a loop that nothing separates are one.
std::string order_text(const NestCost& nest, const Unit* unit) {
  const Mapping& mapping = nest.mapping;
  std::string text;
  std::string indent;
  const auto holds = [&](std::size_t depth) {
    std::string line;
    for (std::size_t o = 0; o < mapping.cuts.size(); ++o) {
      const auto& cuts = mapping.cuts[o];
      for (std::size_t level = 0; level + 1 < cuts.size(); ++level) {
        if (cuts[level] != depth) continue;
        line += fmt::format("{}{} in {}", line.empty() ? "" : ", ", operand_name(nest, o), memory_of(nest, o, level));
      }
    }
    if (!line.empty()) text += fmt::format("{}# {}\n", indent, line);
  };
  for (std::size_t i = mapping.temporal.size(); i-- > 0;) {
    holds(i + 1);
    TemporalLoop loop = mapping.temporal[i];
    for (; i > 0 && mapping.temporal[i - 1].loop == loop.loop && !is_cut(mapping, i); --i) {
      loop.size *= mapping.temporal[i - 1].size;
      loop.average *= mapping.temporal[i - 1].average;
    }
    text += fmt::format("{}for {} in {}:\n", indent, name_of(nest.problem.loops[loop.loop].name), size_text(loop));
    indent += "  ";
  }
  holds(0);
  for (const SpatialLoop& loop : mapping.spatial) {
    if (loop.size == 1) continue;
    text += fmt::format("{}side by side {} of {}\n", indent, loop.size, spatial_name(nest, loop, unit));
  }
  return text;
}

void add_traffic(MappedNest& result, const NestCost& nest) {
  for (std::size_t o = 0; o < nest.cost.traffic.size(); ++o) {
    for (std::size_t level = 0; level < nest.cost.traffic[o].size(); ++level) {
      const Traffic& traffic = nest.cost.traffic[o][level];
      MemoryTraffic entry{.operand = operand_name(nest, o), .memory = memory_of(nest, o, level)};
      for (std::size_t t = 0; t < transfer_count; ++t) {
        const bool read = is_read(static_cast<Transfer>(t));
        (read ? entry.read_words : entry.written_words) += traffic.words[t];
        (read ? entry.read_bits : entry.written_bits) += traffic.bits[t];
      }
      result.traffic.push_back(std::move(entry));
    }
  }
}

}  // namespace

MappedNest mapped_nest(const NestCost& nest, const Unit* unit) {
  const MappingCost& cost = nest.cost;
  MappedNest result{.unit = nest.unit, .precision = nest.problem.precision};
  for (const Loop& loop : nest.problem.loops) result.loops.emplace_back(name_of(loop.name), loop.size);
  for (const SpatialLoop& loop : nest.mapping.spatial) {
    if (loop.size > 1) result.unrolled.emplace_back(spatial_name(nest, loop, unit), loop.size);
  }
  result.order = order_text(nest, unit);
  result.cycles = cost.cycles;
  result.ideal_cycles = cost.ideal_cycles;
  result.compute_cycles = cost.compute_cycles;
  result.stall_cycles = cost.stall_cycles;
  result.load_cycles = cost.load_cycles;
  result.unload_cycles = cost.unload_cycles;
  result.fill_cycles = cost.fill_cycles;
  result.energy_pj = cost.energy_pj;
  result.compute_pj = cost.compute_pj;
  result.static_pj = cost.static_pj;
  result.network_pj = cost.network_pj;
  for (std::size_t m = 0; m < cost.memory_pj.size(); ++m)
    result.memory_pj.emplace_back(nest.memories[m], cost.memory_pj[m]);
  add_traffic(result, nest);
  result.bound_cycles = cost.bound_cycles;
  result.bound_pj = cost.bound_pj;
  result.bound_by = cost.bound_by;
  result.evaluated = nest.evaluated;
  return result;
}

}  // namespace monet
