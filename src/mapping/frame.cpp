#include "mapping/frame.h"

#include "mapping/cycle_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace monet {

namespace {

// Sizes are products of averages: what should be whole may be off in the last digits.
double ceil_cycles(double value) { return std::ceil(value * (1 - 1e-12)); }

const PrecisionRate* precision_of(const Unit& unit, const Problem& problem) {
  return unit.precisions.empty() ? nullptr : unit.precision(problem.precision);
}

// Loops unrolled within one instance of a level: over dimensions that it, or a level below it, feeds.
void set_inside(Frame& frame, FrameOperand& operand) {
  const Target& target = *frame.target;
  std::uint32_t served = 0;
  for (std::size_t level = 0; level < operand.levels; ++level) {
    auto& average = operand.inside_average[level];
    auto& most = operand.inside_most[level];
    average.fill(1);
    most.fill(1);
    operand.instances[level] = 1;
    served |= target.memories[operand.memory[level]].served;
    const bool top = level + 1 == operand.levels;
    for (const SpatialLoop& loop : frame.unrolling->spatial) {
      if (top || (served >> loop.dimension & 1U) != 0) {
        average[loop.loop] *= loop.average;
        most[loop.loop] *= static_cast<double>(loop.size);
      } else {
        operand.instances[level] *= loop.average;
      }
    }
    operand.same_as[level] = static_cast<std::uint8_t>(level);
    for (std::size_t lower = 0; lower < level; ++lower) {
      if (operand.inside_average[lower] == average && operand.inside_most[lower] == most) {
        operand.same_as[level] = static_cast<std::uint8_t>(lower);
        break;
      }
    }
  }
}

double whole_bits(const ProblemOperand& operand, const Problem& problem) {
  std::array<double, max_frame_loops> extents;
  for (std::size_t i = 0; i < problem.loops.size(); ++i) extents[i] = static_cast<double>(problem.loops[i].size);
  return elements(operand, std::span(extents).first(problem.loops.size())) * operand.bits;
}

// What passes from one nest of the operator to the next stays at the lowest shared level from `lowest` on that holds a
// piece of it (and the next piece), if one does.
std::uint8_t home_level(const Frame& frame, const ProblemOperand& operand, std::size_t lowest) {
  const auto& levels = frame.target->levels[static_cast<std::size_t>(operand.path)];
  if (operand.piece_bits > 0) {
    for (std::size_t i = lowest; i < levels.size(); ++i) {
      const TargetMemory& memory = frame.target->memories[levels[i]];
      if (memory.kind == MemoryKind::sram && 2 * operand.piece_bits <= memory.size_bits) {
        return static_cast<std::uint8_t>(i + 1);
      }
    }
  }
  return static_cast<std::uint8_t>(levels.size());
}

// Registers belong to the multipliers: other operations stream from the first memory above them.
std::size_t first_level(const Frame& frame, const std::vector<std::uint8_t>& levels) {
  std::size_t first = 0;
  if (frame.problem->per_point[Count::mac] > 0) return first;
  while (first + 1 < levels.size() && frame.target->memories[levels[first]].kind == MemoryKind::registers) ++first;
  return first;
}

void set_operand(Frame& frame, std::size_t index, std::size_t lowest_home = 0) {
  const ProblemOperand& from = frame.problem->operands[index];
  FrameOperand& to = frame.operand[index] = {};
  const auto& levels = frame.target->levels[static_cast<std::size_t>(from.path)];
  const std::size_t first = first_level(frame, levels);
  const std::size_t home = home_level(frame, from, lowest_home);
  to.levels = static_cast<std::uint8_t>(home - first);
  // Where no memory of the core holds a piece of it, its home is the highest one and holds all of it.
  const TargetMemory& top = frame.target->memories[levels[home - 1]];
  const bool fits = top.kind == MemoryKind::sram && 2 * from.piece_bits <= top.size_bits;
  if (home < levels.size() || fits) to.piece_bits = static_cast<double>(from.piece_bits);
  for (std::size_t i = 0; i < to.levels; ++i) {
    to.memory[i] = levels[first + i];
    to.bits[i] = from.bits_in(frame.target->memories[to.memory[i]].kind);
  }
  to.relevant = from.relevant();
  to.path = from.path;
  to.written = from.written;
  to.accumulates = from.accumulates;
  to.continues = from.continues;
  to.partial_bits = static_cast<double>(from.partial_bits);
  // An output register is what the unit adds to, in every cycle; without one the unit has an accumulator of its own.
  to.latched = !from.written || frame.target->memories[to.memory[0]].kind != MemoryKind::registers;
  set_inside(frame, to);
}

void set_compute(Frame& frame) {
  const Problem& problem = *frame.problem;
  const Unit& unit = frame.target->unit;
  const PrecisionRate* precision = precision_of(unit, problem);
  if (!unit.precisions.empty() && precision == nullptr) {
    frame.infeasible = fmt::format("the {} has no rate for {}", unit.name, problem.precision);
    return;
  }
  const double rate = precision != nullptr ? precision->rate : 1;
  const double energy = precision != nullptr && frame.target->effects.energy_by_precision ? precision->energy : 1;
  double cycles = 0;
  double pj = 0;
  for (std::size_t kind = 0; kind < count_kinds; ++kind) {
    const auto count = static_cast<double>(problem.per_point.of[kind]);
    if (count == 0) continue;
    if (unit.cycles[kind] == 0) {
      frame.infeasible = fmt::format("the {} has no operation \"{}\"", unit.name, name_of(static_cast<Count>(kind)));
      return;
    }
    cycles += count * unit.cycles[kind];
    pj += count * unit.energy_pj[kind];
  }
  frame.cycles_per_point = cycles / rate;
  frame.ideal_cycles = problem.points() * frame.cycles_per_point / static_cast<double>(unit.lanes());
  frame.compute_pj = pj * energy * problem.points();
  if (unit.cycle_rule && problem.per_point[Count::mac] > 0) {
    const double all = rule_cycles(problem, *unit.cycle_rule, rate);
    if (!std::isfinite(all) || all <= 0) {
      frame.infeasible = fmt::format("the cycle rule of the {} gives {} cycles for it", unit.name, all);
      return;
    }
    frame.cycles_per_point = all / frame.iterations;
    frame.ideal_cycles = std::min(frame.ideal_cycles, all);
    frame.compute_pj += all * unit.energy_pj_per_cycle * energy;
  }
  if (frame.target->effects.fill_drain) frame.fixed_cycles += unit.fill_cycles;
}

void set_latencies(Frame& frame) {
  if (!frame.target->effects.memory_latency) return;
  double down = 0;
  double up = 0;
  for (std::size_t i = 0; i < frame.operands; ++i) {
    double chain = 0;
    for (std::size_t level = 0; level < frame.operand[i].levels; ++level) {
      const TargetMemory& memory = frame.target->memories[frame.operand[i].memory[level]];
      chain += memory.latency_cycles + memory.link_latency_cycles;
    }
    (frame.operand[i].written ? up : down) = std::max(frame.operand[i].written ? up : down, chain);
  }
  frame.fixed_cycles += down + up;
}

// Bits that a memory must hold at least: operands that are at home there, and of the others what one cycle needs.
double least_bits(const Frame& frame, std::size_t memory) {
  std::array<double, max_frame_loops> one;
  one.fill(1);
  double bits = 0;
  for (std::size_t i = 0; i < frame.operands; ++i) {
    const FrameOperand& operand = frame.operand[i];
    const auto used = std::span(operand.memory).first(operand.levels);
    const auto level = static_cast<std::size_t>(std::ranges::find(used, memory) - used.begin());
    if (level == used.size()) continue;
    if (level + 1 == used.size()) {
      bits += operand.piece_bits > 0 ? operand.piece_bits : whole_bits(frame.problem->operands[i], *frame.problem);
      continue;
    }
    const double each = operand.written && operand.accumulates ? operand.partial_bits : operand.bits[level];
    const double buffers = frame.target->memories[memory].double_buffered ? 2 : 1;
    bits += tile_size(frame, i, one.data(), one.data()).most[level] * each * buffers;
  }
  return bits;
}

// Pieces that do not fit a memory together: the largest pass through the next one above it instead, read ones first.
void lift_pieces(Frame& frame) {
  const auto operands = std::span(frame.operand).first(frame.operands);
  if (std::ranges::none_of(operands, [](const FrameOperand& o) { return o.piece_bits > 0; })) return;
  for (std::size_t m = 0; m < frame.target->memories.size(); ++m) {
    while (least_bits(frame, m) > static_cast<double>(frame.target->memories[m].size_bits)) {
      std::size_t largest = frame.operands;
      for (std::size_t i = 0; i < frame.operands; ++i) {
        const FrameOperand& operand = frame.operand[i];
        const auto& levels = frame.target->levels[static_cast<std::size_t>(operand.path)];
        const bool here = operand.memory[operand.levels - 1U] == m && levels.back() != m;
        if (operand.piece_bits == 0 || !here) continue;
        const auto rank = [](const FrameOperand& o) { return std::pair(o.piece_bits, !o.written); };
        if (largest == frame.operands || rank(operand) > rank(frame.operand[largest])) largest = i;
      }
      if (largest == frame.operands) break;
      const auto& levels = frame.target->levels[static_cast<std::size_t>(frame.operand[largest].path)];
      set_operand(frame, largest, static_cast<std::size_t>(std::ranges::find(levels, m) - levels.begin()) + 1);
    }
  }
}

// The home of an operand holds all of it.
void check_homes(Frame& frame) {
  std::vector<double> used(frame.target->memories.size(), 0);
  for (std::size_t i = 0; i < frame.operands; ++i) {
    const FrameOperand& operand = frame.operand[i];
    const double whole = whole_bits(frame.problem->operands[i], *frame.problem);
    used[operand.memory[operand.levels - 1U]] += operand.piece_bits > 0 ? operand.piece_bits : whole;
  }
  for (std::size_t m = 0; m < used.size(); ++m) {
    const TargetMemory& memory = frame.target->memories[m];
    if (used[m] > static_cast<double>(memory.size_bits)) {
      frame.infeasible = fmt::format("its operands take {:.0f} bytes, and {} has {}", std::ceil(used[m] / 8),
                                     memory.name, memory.size_bits / 8);
      frame.too_large = true;
      return;
    }
  }
}

// Every memory holds at least what one cycle needs.
void check_points(Frame& frame) {
  std::array<double, max_frame_loops> one;
  one.fill(1);
  std::vector<double> used(frame.target->memories.size(), 0);
  for (std::size_t i = 0; i < frame.operands; ++i) {
    const FrameOperand& operand = frame.operand[i];
    const TileSize point = tile_size(frame, i, one.data(), one.data());
    for (std::size_t level = 0; level + 1U < operand.levels; ++level) {
      used[operand.memory[level]] += point.most[level] * operand.bits[level];
    }
  }
  for (std::size_t m = 0; m < used.size(); ++m) {
    const TargetMemory& memory = frame.target->memories[m];
    if (used[m] <= static_cast<double>(memory.size_bits)) continue;
    frame.infeasible = fmt::format("{} has {} bits, and what one cycle needs takes {:.0f}", memory.name,
                                   memory.size_bits, std::ceil(used[m]));
  }
}

// Words of the port's width for one transfer, counting a part of the smallest access as a whole one.
double words(double bits, const Port& port) {
  const auto smallest = static_cast<double>(port.min_bits);
  return ceil_cycles(bits / smallest) * (smallest / static_cast<double>(port.max_bits));
}

struct PortEnd {
  const TargetMemory* memory;
  const Port* port;
  std::uint8_t index;
};

PortEnd end_of(const Frame& frame, const FrameOperand& operand, std::size_t level, Transfer transfer) {
  const std::uint8_t m = operand.memory[level];
  const TargetMemory& memory = frame.target->memories[m];
  std::int8_t port = memory.port[static_cast<std::size_t>(operand.path)][static_cast<std::size_t>(transfer)];
  // A path that only passes one way may come back by the same port.
  if (port == no_port) {
    for (std::int8_t other : memory.port[static_cast<std::size_t>(operand.path)]) {
      if (other != no_port) port = other;
    }
  }
  return {&memory, &memory.ports[static_cast<std::size_t>(port)],
          static_cast<std::uint8_t>(frame.first_port[m] + static_cast<std::uint8_t>(port))};
}

void add_traffic(Flow& flow, const PortEnd& low, double low_bits, double low_instances, const PortEnd* high,
                 double high_bits, double high_instances, double count) {
  flow.low_words += words(low_bits, *low.port) * count * low_instances;
  flow.low_bits += low_bits * count * low_instances;
  if (high == nullptr) return;
  flow.high_words += words(high_bits, *high->port) * count * high_instances;
  flow.high_bits += high_bits * count * high_instances;
}

void set_times(Flow& flow, const PortEnd& low, double low_bits, const PortEnd* high, double high_bits, double count) {
  flow.count = count;
  flow.low_port = low.index;
  flow.low_cycles = ceil_cycles(low_bits / low.port->bits_per_cycle());
  flow.cycles = flow.low_cycles;
  if (high == nullptr) return;
  flow.high_port = high->index;
  flow.high_cycles = ceil_cycles(high_bits / high->port->bits_per_cycle());
  flow.cycles = std::max(flow.low_cycles, flow.high_cycles);
  if (high->memory->link_bits > 0) {
    flow.high_cycles = std::max(flow.high_cycles, ceil_cycles(high_bits / high->memory->link_bits));
    flow.cycles = std::max(flow.cycles, flow.high_cycles);
  }
}

void set_busy(LinkCost& link) {
  for (std::size_t i = 0; i < link.flow_count; ++i) {
    const Flow& flow = link.flows[i];
    const bool low_main = flow.low_port == link.flows[0].low_port;
    const bool high_main = flow.high_port == link.flows[0].high_port;
    (low_main ? link.low_busy : link.low_back) += flow.count * flow.low_cycles;
    (high_main ? link.high_busy : link.high_back) += flow.count * flow.high_cycles;
    if (!low_main) link.low_back_port = flow.low_port;
    if (!high_main) link.high_back_port = flow.high_port;
  }
}

// Data stream through the levels: the first point waits only for what it needs itself.
void set_first_cycles(Frame& frame) {
  std::array<double, max_frame_loops> one;
  one.fill(1);
  double down = 0;
  double up = 0;
  for (std::size_t i = 0; i < frame.operands; ++i) {
    FrameOperand& operand = frame.operand[i];
    const TileSize point = tile_size(frame, i, one.data(), one.data());
    double chain = 0;
    for (std::size_t level = 0; level + 1 < operand.levels; ++level) {
      Flow flow;
      const bool written = operand.written;
      const PortEnd low = end_of(frame, operand, level, written ? Transfer::to_high : Transfer::from_high);
      const PortEnd high = end_of(frame, operand, level + 1, written ? Transfer::from_low : Transfer::to_low);
      set_times(flow, low, point.average[level] * operand.bits[level], &high,
                point.average[level + 1] * operand.bits[level + 1], 1);
      operand.first_cycles[level] = flow.cycles;
      operand.low_port[level] = low.index;
      operand.high_port[level] = high.index;
      chain += flow.cycles;
    }
    double& longest = operand.written ? up : down;
    longest = std::max(longest, chain);
  }
  frame.first_cycles = down + up;
}

}  // namespace

Frame make_frame(const Problem& problem, const Target& target, const Unrolling& unrolling) {
  Frame frame{.problem = &problem, .target = &target, .unrolling = &unrolling};
  frame.loops = problem.loops.size();
  frame.operands = problem.operands.size();
  for (const TargetMemory& memory : target.memories) frame.ports += memory.ports.size();
  const bool deep = std::ranges::any_of(target.levels, [](const auto& l) { return l.size() > max_frame_levels; });
  if (frame.loops > max_frame_loops || frame.operands > max_frame_operands || frame.ports > max_frame_ports || deep ||
      target.memories.size() > max_frame_memories) {
    frame.infeasible =
        fmt::format("{} loops, {} operands, {} memories and {} ports are more than the model has room for", frame.loops,
                    frame.operands, target.memories.size(), frame.ports);
    return frame;
  }
  std::size_t port = 0;
  for (std::size_t m = 0; m < target.memories.size(); ++m) {
    frame.first_port[m] = static_cast<std::uint8_t>(port);
    for (std::size_t p = 0; p < target.memories[m].ports.size(); ++p) {
      frame.port[port++] = {static_cast<std::uint8_t>(m), static_cast<std::uint8_t>(p)};
    }
  }
  for (const ProblemOperand& operand : problem.operands) {
    if (!target.levels[static_cast<std::size_t>(operand.path)].empty()) continue;
    frame.infeasible = fmt::format("no memory holds its {}s", name_of(operand.path));
    return frame;
  }
  frame.iterations = unrolling.compute_points;
  set_compute(frame);
  if (!frame.infeasible.empty()) return frame;
  for (std::size_t i = 0; i < frame.operands; ++i) set_operand(frame, i);
  lift_pieces(frame);
  set_latencies(frame);
  set_first_cycles(frame);
  check_homes(frame);
  if (frame.infeasible.empty()) check_points(frame);
  return frame;
}

TileSize tile_size(const Frame& frame, std::size_t index, const double* average, const double* most) {
  const FrameOperand& operand = frame.operand[index];
  const ProblemOperand& problem = frame.problem->operands[index];
  TileSize tile;
  std::array<double, max_frame_loops> extents;
  for (std::size_t level = 0; level < operand.levels; ++level) {
    if (operand.same_as[level] != level) {
      tile.average[level] = tile.average[operand.same_as[level]];
      tile.most[level] = tile.most[operand.same_as[level]];
      continue;
    }
    const std::span used = std::span(extents).first(frame.loops);
    bool ragged = false;
    for (std::size_t i = 0; i < frame.loops; ++i) {
      extents[i] = average[i] * operand.inside_average[level][i];
      ragged |= average[i] != most[i] || operand.inside_average[level][i] != operand.inside_most[level][i];
    }
    tile.average[level] = elements(problem, used);
    tile.most[level] = tile.average[level];
    if (!ragged) continue;
    for (std::size_t i = 0; i < frame.loops; ++i) {
      extents[i] = std::min(most[i] * operand.inside_most[level][i], static_cast<double>(frame.problem->loops[i].size));
    }
    tile.most[level] = elements(problem, used);
  }
  return tile;
}

LinkCost link_cost(const Frame& frame, std::size_t index, std::size_t level, const TileSize& tile, double above,
                   double distinct, double period, double window) {
  const FrameOperand& operand = frame.operand[index];
  LinkCost cost;
  cost.tile_most = tile.most[level];
  const double low_instances = operand.instances[level];
  const double high_instances = operand.instances[level + 1];
  const double low = tile.average[level];
  const double high = tile.average[level + 1];
  const auto flow = [&](Transfer low_transfer, Transfer high_transfer, double partial_count, double final_count) {
    const PortEnd low_end = end_of(frame, operand, level, low_transfer);
    const PortEnd high_end = end_of(frame, operand, level + 1, high_transfer);
    Flow& f = cost.flows[cost.flow_count++];
    const double low_bits = partial_count > 0 ? operand.partial_bits : operand.bits[level];
    const double high_bits = partial_count > 0 ? operand.partial_bits : operand.bits[level + 1];
    set_times(f, low_end, low * low_bits, &high_end, high * high_bits, partial_count + final_count);
    if (partial_count > 0) {
      add_traffic(f, low_end, low * operand.partial_bits, low_instances, &high_end, high * operand.partial_bits,
                  high_instances, partial_count);
    }
    if (final_count > 0) {
      add_traffic(f, low_end, low * operand.bits[level], low_instances, &high_end, high * operand.bits[level + 1],
                  high_instances, final_count);
    }
    cost.energy_pj += f.low_words * (is_read(low_transfer) ? low_end.memory->read_pj : low_end.memory->write_pj) +
                      f.high_words * (is_read(high_transfer) ? high_end.memory->read_pj : high_end.memory->write_pj);
    double wires = high_end.memory->link_pj_per_bit * f.high_bits;
    if (frame.target->effects.network_energy) wires += high_end.memory->network_pj_per_bit * f.high_bits;
    cost.energy_pj += wires;
    cost.network_pj += wires;
    const double wait = frame.target->effects.memory_latency ? high_end.memory->latency_cycles : 0;
    cost.exposed += (f.count - 1) * std::max(0.0, f.cycles + wait - window);
    cost.exposed_double += (f.count - 1) * std::max(0.0, f.cycles - period);
    cost.load = std::max({cost.load, operand.first_cycles[level], f.cycles - window});
  };
  if (!operand.written) {
    flow(Transfer::from_high, Transfer::to_low, 0, above);
    set_busy(cost);
    return cost;
  }
  const double returning = operand.accumulates ? above - distinct : 0;
  const bool comes_back = returning > distinct * 1e-9;
  cost.partial = comes_back;
  flow(Transfer::to_high, Transfer::from_low, comes_back ? returning : 0, comes_back ? distinct : above);
  if (comes_back || operand.continues) {
    flow(Transfer::from_high, Transfer::to_low, comes_back ? returning : 0, operand.continues ? distinct : 0);
  }
  set_busy(cost);
  return cost;
}

LinkCost unit_cost(const Frame& frame, std::size_t index, const TileSize& point, double stationary, bool reduced,
                   double distinct) {
  const FrameOperand& operand = frame.operand[index];
  LinkCost cost;
  cost.partial = reduced;
  const double period = stationary * frame.cycles_per_point;
  const double count = frame.iterations / stationary;
  const double bits = reduced ? operand.partial_bits : operand.bits[0];
  // By a rule of its own the unit may take several steps in a cycle: what they need comes together, and a register is
  // added to once.
  const bool several = frame.target->unit.cycle_rule && frame.problem->per_point[Count::mac] > 0 && period < 1;
  const double together = several ? 1 / period : 1;
  const auto flow = [&](Transfer transfer, double times) {
    const PortEnd end = end_of(frame, operand, 0, transfer);
    Flow& f = cost.flows[cost.flow_count++];
    set_times(f, end, point.average[0] * bits * (operand.latched ? together : 1), nullptr, 0, times);
    f.low_cycles /= together;
    f.cycles /= together;
    add_traffic(f, end, point.average[0] * bits, operand.instances[0], nullptr, 0, 0, times);
    cost.energy_pj += f.low_words * (is_read(transfer) ? end.memory->read_pj : end.memory->write_pj);
    if (frame.target->effects.network_energy) {
      const double wires = end.memory->network_pj_per_bit * f.low_bits;
      cost.energy_pj += wires;
      cost.network_pj += wires;
    }
    cost.exposed += times * std::max(0.0, f.cycles - period);
    cost.load = std::max(cost.load, f.cycles);
  };
  if (!operand.written) {
    flow(Transfer::to_low, count);
  } else {
    flow(Transfer::from_low, count);
    const double back = operand.continues ? count : reduced ? count - distinct : 0;
    if (back > 0) flow(Transfer::to_low, back);
  }
  cost.exposed_double = cost.exposed;
  return cost;
}

}  // namespace monet
