#include "mapping/describe.h"

#include "mapping/spatial.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

void add_flow(MappingCost& cost, const Frame& frame, std::size_t o, std::size_t level, const Flow& flow, bool unit,
              Transfer low, Transfer high) {
  const FrameOperand& operand = frame.operand[o];
  const auto add = [&](std::size_t at, Transfer transfer, double words, double bits, double cycles) {
    const TargetMemory& memory = frame.target->memories[operand.memory[at]];
    Traffic& traffic = cost.traffic[o][at];
    traffic.words[static_cast<std::size_t>(transfer)] += words;
    traffic.bits[static_cast<std::size_t>(transfer)] += bits;
    traffic.cycles[static_cast<std::size_t>(transfer)] += flow.count * cycles;
    cost.memory_pj[operand.memory[at]] += words * (is_read(transfer) ? memory.read_pj : memory.write_pj);
  };
  add(level, low, flow.low_words, flow.low_bits, flow.low_cycles);
  if (!unit) add(level + 1, high, flow.high_words, flow.high_bits, flow.high_cycles);
}

void add_link(MappingCost& cost, const Frame& frame, std::size_t o, std::size_t level, const LinkCost& link,
              bool unit) {
  const bool written = frame.operand[o].written;
  cost.network_pj += link.network_pj;
  for (std::size_t i = 0; i < link.flow_count; ++i) {
    const bool up = written && i == 0;
    if (unit) {
      add_flow(cost, frame, o, level, link.flows[i], true, up ? Transfer::from_low : Transfer::to_low, {});
    } else {
      add_flow(cost, frame, o, level, link.flows[i], false, up ? Transfer::to_high : Transfer::from_high,
               up ? Transfer::from_low : Transfer::to_low);
    }
  }
}

std::string port_name(const Frame& frame, std::uint8_t port) {
  const FramePort& p = frame.port[port];
  const TargetMemory& memory = frame.target->memories[p.memory];
  return fmt::format("{} port {}", memory.name, memory.ports[p.port].name);
}

void set_binding(MappingCost& cost, const Frame& frame, const Latency& latency) {
  const double waiting = latency.stall;
  const double loading = latency.load + latency.unload;
  if (latency.busiest >= latency.cycles && latency.busiest > cost.compute_cycles) {
    cost.bound_by = port_name(frame, latency.busy_port);
  } else if (cost.compute_cycles >= std::max({waiting, loading, frame.fixed_cycles})) {
    cost.bound_by = "compute";
  } else if (waiting >= std::max(loading, frame.fixed_cycles)) {
    cost.bound_by = port_name(frame, latency.stall_port);
  } else if (loading >= frame.fixed_cycles) {
    cost.bound_by = fmt::format("loading through {}", port_name(frame, latency.load_port));
  } else {
    cost.bound_by = "latency";
  }
}

}  // namespace

MappedProblem describe(const Frame& frame, const OrderBuilder& builder, const Cuts& cuts) {
  MappedProblem result;
  result.mapping.spatial = frame.unrolling->spatial;
  result.mapping.temporal = builder.order();
  MappingCost& cost = result.cost;
  cost.memory_pj.assign(frame.target->memories.size(), 0);
  cost.traffic.resize(frame.operands);
  cost.macs = frame.problem->points() * static_cast<double>(frame.problem->per_point[Count::mac]);
  const OrderCuts& operands = builder.cuts();
  for (std::size_t o = 0; o < frame.operands; ++o) {
    const std::size_t levels = frame.operand[o].levels;
    cost.traffic[o].resize(levels);
    const auto memories = frame.operand[o].memory.begin();
    cost.levels.emplace_back(memories, memories + static_cast<std::ptrdiff_t>(levels));
    add_link(cost, frame, o, 0, operands[o].unit, true);
    std::vector<std::uint8_t>& chosen = result.mapping.cuts.emplace_back();
    for (std::size_t level = 0; level + 1 < levels; ++level) {
      const Candidate& candidate = *operands[o].candidate[cuts[o][level]];
      chosen.push_back(candidate.cut);
      add_link(cost, frame, o, level, candidate.links[level], false);
    }
    chosen.push_back(static_cast<std::uint8_t>(builder.order().size()));
  }
  const Latency latency = latency_of(frame, operands, cuts);
  cost.cycles = latency.cycles;
  cost.compute_cycles = frame.iterations * frame.cycles_per_point;
  cost.load_cycles = latency.load;
  cost.unload_cycles = latency.unload;
  cost.fill_cycles = frame.fixed_cycles;
  // What a port has to move beyond all that is waiting as well.
  cost.stall_cycles =
      std::max(0.0, latency.cycles - cost.compute_cycles - latency.load - latency.unload - frame.fixed_cycles);
  cost.ideal_cycles = frame.ideal_cycles;
  cost.compute_pj = frame.compute_pj;
  cost.static_pj = static_pj(frame, latency.cycles);
  cost.energy_pj = energy_of(frame, operands, cuts, latency.cycles);
  set_binding(cost, frame, latency);
  set_bounds(*frame.problem, *frame.target, cost);
  return result;
}

void set_bounds(const Problem& problem, const Target& target, MappingCost& cost) {
  // A cycle rule takes the same for every mapping.
  const bool by_rule = target.unit.cycle_rule && problem.per_point[Count::mac] > 0;
  const double usable = usable_lanes(problem, target.unit) / static_cast<double>(target.unit.lanes());
  cost.bound_cycles = by_rule ? cost.compute_cycles : cost.ideal_cycles / (target.unit.cycle_rule ? 1 : usable);
  cost.bound_pj = cost.compute_pj;
  std::vector<double> extents;
  for (const Loop& loop : problem.loops) extents.push_back(static_cast<double>(loop.size));
  std::vector<std::vector<double>> port_bits(target.memories.size());
  for (std::size_t m = 0; m < target.memories.size(); ++m) port_bits[m].assign(target.memories[m].ports.size(), 0);
  for (const ProblemOperand& operand : problem.operands) {
    if (operand.piece_bits > 0) continue;
    const double bits = elements(operand, extents) * operand.bits;
    const auto& levels = target.levels[static_cast<std::size_t>(operand.path)];
    const std::size_t top = levels.back();
    const TargetMemory& memory = target.memories[top];
    const Transfer transfer = operand.written ? Transfer::from_low : Transfer::to_low;
    const std::int8_t port = memory.port[static_cast<std::size_t>(operand.path)][static_cast<std::size_t>(transfer)];
    if (port == no_port) continue;
    const auto width = static_cast<double>(memory.ports[static_cast<std::size_t>(port)].max_bits);
    port_bits[top][static_cast<std::size_t>(port)] += bits;
    cost.bound_pj += bits / width * (operand.written ? memory.write_pj : memory.read_pj);
  }
  for (std::size_t m = 0; m < port_bits.size(); ++m) {
    for (std::size_t p = 0; p < port_bits[m].size(); ++p) {
      const double width = target.memories[m].ports[p].bits_per_cycle();
      cost.bound_cycles =
          std::max(cost.bound_cycles, port_bits[m][p] / width / static_cast<double>(target.memories[m].instances));
    }
  }
}

}  // namespace monet
