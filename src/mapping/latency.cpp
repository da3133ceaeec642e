#include "mapping/order.h"

#include <algorithm>

namespace monet {

namespace {

const LinkCost& link_at(const OrderCuts& operands, const Cuts& cuts, std::size_t operand, std::size_t level) {
  return operands[operand].candidate[cuts[operand][level]]->links[level];
}

using AllPortTimes = std::array<PortTimes, max_frame_ports>;
using PortCycles = std::array<double, max_frame_ports>;

// A link whose transfers keep the unit waiting unless the lower level holds two tiles.
struct Wish {
  std::uint8_t memory = 0;
  std::uint8_t low_port = 0, high_port = 0;
  double bits = 0;
  double gain = 0;
};
constexpr std::size_t max_wishes = 10;

struct Wishes {
  std::size_t count = 0;
  std::array<Wish, max_wishes> wish;
};

void add_link(AllPortTimes& times, const LinkCost& link, bool written, bool doubled, bool unit) {
  const double exposed = doubled ? link.exposed_double : link.exposed;
  for (std::size_t i = 0; i < link.flow_count; ++i) {
    const Flow& flow = link.flows[i];
    times[flow.low_port].busy += flow.count * flow.low_cycles;
    if (!unit) times[flow.high_port].busy += flow.count * flow.high_cycles;
  }
  const Flow& flow = link.flows[0];
  times[flow.low_port].exposed += exposed;
  times[flow.low_port].edge(written) += link.load;
  if (unit) return;
  times[flow.high_port].exposed += exposed;
  times[flow.high_port].edge(written) += link.load;
}

template <class CyclesOf>
double longest(std::size_t ports, std::uint8_t* which, const CyclesOf& cycles_of) {
  double most = 0;
  for (std::size_t i = 0; i < ports; ++i) {
    if (cycles_of(i) > most) {
      most = cycles_of(i);
      *which = static_cast<std::uint8_t>(i);
    }
  }
  return most;
}

// The shortest wait over all ways to give the free space of the memories to second buffers.
double stall_with_second_buffers(const Frame& frame, const AllPortTimes& times, const Wishes& wishes,
                                 const std::array<double, max_frame_memories>& room, std::uint8_t* port) {
  double shortest = longest(frame.ports, port, [&](std::size_t i) { return times[i].exposed; });
  const std::size_t memories = frame.target->memories.size();
  std::array<double, max_frame_memories> used;
  PortCycles exposed;
  for (std::uint32_t set = 1; set < (1U << wishes.count) && shortest > 0; ++set) {
    std::fill_n(used.begin(), memories, 0);
    for (std::size_t i = 0; i < frame.ports; ++i) exposed[i] = times[i].exposed;
    bool fits = true;
    for (std::size_t i = 0; i < wishes.count && fits; ++i) {
      if ((set >> i & 1U) == 0) continue;
      const Wish& wish = wishes.wish[i];
      used[wish.memory] += wish.bits;
      fits = used[wish.memory] <= room[wish.memory];
      exposed[wish.low_port] -= wish.gain;
      exposed[wish.high_port] -= wish.gain;
    }
    if (!fits) continue;
    std::uint8_t which = 0;
    const double wait = longest(frame.ports, &which, [&](std::size_t i) { return exposed[i]; });
    if (wait < shortest) {
      shortest = wait;
      *port = which;
    }
  }
  return shortest;
}

}  // namespace

void LeastCost::include(const LinkCost& link, bool doubled) {
  include({.energy_pj = link.energy_pj,
           .low_busy = link.low_busy,
           .high_busy = link.high_busy,
           .exposed = doubled ? link.exposed_double : link.exposed,
           .load = link.load,
           .low_back = link.low_back,
           .high_back = link.high_back,
           .low_back_port = link.low_back_port,
           .high_back_port = link.high_back_port});
}

void LeastCost::include(const LeastCost& other) {
  energy_pj = std::min(energy_pj, other.energy_pj);
  low_busy = std::min(low_busy, other.low_busy);
  high_busy = std::min(high_busy, other.high_busy);
  exposed = std::min(exposed, other.exposed);
  load = std::min(load, other.load);
  low_back = std::min(low_back, other.low_back);
  high_back = std::min(high_back, other.high_back);
  low_back_port = std::max(low_back_port, other.low_back_port);
  high_back_port = std::max(high_back_port, other.high_back_port);
}

LeastTime::LeastTime(const Frame& frame) : frame_(&frame) {
  std::fill_n(ports_.begin(), frame.ports, PortTimes{});
  std::fill_n(chain_.begin(), frame.operands, 0);
}

LeastTime::LeastTime(const LeastTime& other) : frame_(other.frame_) {
  std::copy_n(other.ports_.begin(), frame_->ports, ports_.begin());
  std::copy_n(other.chain_.begin(), frame_->operands, chain_.begin());
}

void LeastTime::add_unit(std::size_t operand, const LinkCost& link) {
  for (std::size_t i = 0; i < link.flow_count; ++i) {
    ports_[link.flows[i].low_port].busy += link.flows[i].count * link.flows[i].low_cycles;
  }
  PortTimes& port = ports_[link.flows[0].low_port];
  port.exposed += link.exposed;
  port.edge(frame_->operand[operand].written) += link.load;
  chain_[operand] += link.load;
}

void LeastTime::add_edges(std::size_t operand, std::size_t level, double exposed, double load) {
  const FrameOperand& o = frame_->operand[operand];
  for (const std::uint8_t port : {o.low_port[level], o.high_port[level]}) {
    ports_[port].exposed += exposed;
    ports_[port].edge(o.written) += load;
  }
  chain_[operand] += load;
}

void LeastTime::add_busy(std::size_t operand, std::size_t level, const LeastCost& least, double sign) {
  ports_[frame_->operand[operand].low_port[level]].busy += sign * least.low_busy;
  ports_[frame_->operand[operand].high_port[level]].busy += sign * least.high_busy;
  if (least.low_back > 0) ports_[least.low_back_port].busy += sign * least.low_back;
  if (least.high_back > 0) ports_[least.high_back_port].busy += sign * least.high_back;
}

void LeastTime::add(std::size_t operand, std::size_t level, const LeastCost& least) {
  add_busy(operand, level, least, 1);
  add_edges(operand, level, least.exposed, least.load);
}

void LeastTime::choose(std::size_t operand, std::size_t level, const LeastCost& least, const LinkCost& link,
                       bool doubled) {
  add_busy(operand, level, least, -1);
  for (std::size_t i = 0; i < link.flow_count; ++i) {
    const Flow& flow = link.flows[i];
    ports_[flow.low_port].busy += flow.count * flow.low_cycles;
    ports_[flow.high_port].busy += flow.count * flow.high_cycles;
  }
  add_edges(operand, level, (doubled ? link.exposed_double : link.exposed) - least.exposed, link.load - least.load);
}

double LeastTime::cycles() const {
  PortTimes most{};
  for (std::size_t i = 0; i < frame_->ports; ++i) {
    most.busy = std::max(most.busy, ports_[i].busy);
    most.exposed = std::max(most.exposed, ports_[i].exposed);
    most.load = std::max(most.load, ports_[i].load);
    most.unload = std::max(most.unload, ports_[i].unload);
  }
  for (std::size_t o = 0; o < frame_->operands; ++o) {
    double& longest = most.edge(frame_->operand[o].written);
    longest = std::max(longest, chain_[o]);
  }
  const double waiting = frame_->iterations * frame_->cycles_per_point + most.exposed + most.load + most.unload;
  return std::max(most.busy, waiting) + frame_->fixed_cycles;
}

double held_bits(const Frame& frame, const OrderCuts& operands, std::size_t operand, std::size_t level,
                 const TileSize& tile, std::uint8_t cut_below) {
  const FrameOperand& o = frame.operand[operand];
  if (level + 1U == o.levels && o.piece_bits > 0) return o.piece_bits;
  const bool partial = o.written && o.accumulates && cut_below < operands[operand].reduced_until;
  const bool twice = level + 1U < o.levels && frame.target->memories[o.memory[level]].double_buffered;
  return tile.most[level] * (partial ? o.partial_bits : o.bits[level]) * (twice ? 2 : 1);
}

Latency latency_of(const Frame& frame, const OrderCuts& operands, const Cuts& cuts) {
  AllPortTimes times;
  std::fill_n(times.begin(), frame.ports, PortTimes{});
  Wishes wishes;
  std::array<double, max_frame_memories> room;
  for (std::size_t m = 0; m < frame.target->memories.size(); ++m) {
    room[m] = static_cast<double>(frame.target->memories[m].size_bits);
  }
  double load = 0;
  double unload = 0;
  for (std::size_t o = 0; o < frame.operands; ++o) {
    const FrameOperand& operand = frame.operand[o];
    add_link(times, operands[o].unit, operand.written, false, true);
    double chain = operands[o].unit.load;
    std::uint8_t below = 0;
    for (std::size_t level = 0; level + 1 < operand.levels; ++level) {
      const Candidate& candidate = *operands[o].candidate[cuts[o][level]];
      const LinkCost& link = link_at(operands, cuts, o, level);
      const std::uint8_t memory = operand.memory[level];
      const bool always = frame.target->memories[memory].double_buffered;
      add_link(times, link, operand.written, always, false);
      chain += link.load;
      const double bits = held_bits(frame, operands, o, level, candidate.tile, below);
      room[memory] -= bits;
      if (!always && link.exposed > link.exposed_double && wishes.count < max_wishes) {
        wishes.wish[wishes.count++] = {memory, link.flows[0].low_port, link.flows[0].high_port, bits,
                                       link.exposed - link.exposed_double};
      }
      below = candidate.cut;
    }
    const std::size_t home = operand.levels - 1U;
    room[operand.memory[home]] -=
        held_bits(frame, operands, o, home, operands[o].candidate[operands[o].count - 1]->tile, below);
    (operand.written ? unload : load) = std::max(operand.written ? unload : load, chain);
  }
  Latency latency;
  latency.stall = stall_with_second_buffers(frame, times, wishes, room, &latency.stall_port);
  std::uint8_t unload_port = 0;
  latency.load = std::max(load, longest(frame.ports, &latency.load_port, [&](std::size_t i) { return times[i].load; }));
  latency.unload = std::max(unload, longest(frame.ports, &unload_port, [&](std::size_t i) { return times[i].unload; }));
  if (latency.unload > latency.load) latency.load_port = unload_port;
  latency.busiest =
      longest(frame.ports, &latency.busy_port, [&](std::size_t i) { return times[i].busy; }) + frame.fixed_cycles;
  latency.cycles = std::max(latency.busiest, frame.iterations * frame.cycles_per_point + latency.stall + latency.load +
                                                 latency.unload + frame.fixed_cycles);
  return latency;
}

double energy_of(const Frame& frame, const OrderCuts& operands, const Cuts& cuts, double cycles) {
  double energy = frame.compute_pj;
  for (std::size_t o = 0; o < frame.operands; ++o) {
    energy += operands[o].unit.energy_pj;
    for (std::size_t level = 0; level + 1 < frame.operand[o].levels; ++level) {
      energy += link_at(operands, cuts, o, level).energy_pj;
    }
  }
  return energy + static_pj(frame, cycles);
}

double static_pj(const Frame& frame, double cycles) {
  const Target& target = *frame.target;
  if (!target.effects.static_energy || target.clock_hz <= 0) return 0;
  return target.static_w * 1e12 * cycles / target.clock_hz;
}

Score score_of(Objective objective, double cycles, double energy_pj) {
  switch (objective) {
    case Objective::latency: return {cycles, energy_pj};
    case Objective::energy: return {energy_pj, cycles};
    case Objective::edp: break;
  }
  return {cycles * energy_pj, cycles};
}

}  // namespace monet
