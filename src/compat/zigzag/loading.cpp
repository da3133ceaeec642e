#include "compat/zigzag/loading.h"

#include "compat/zigzag/python.h"

#include <algorithm>

namespace monet::zigzag {

void shorten(std::span<SingleLoad> loads, double spare, bool negative) {
  if (spare <= 0) return;
  std::array<std::size_t, max_served> order;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    std::size_t place = i;
    for (; place > 0 && loads[order[place - 1]].cycles < loads[i].cycles; --place) order[place] = order[place - 1];
    order[place] = i;
  }
  for (std::size_t i = 0; i < loads.size() && (negative || spare > 0); ++i) {
    const SingleLoad& turn = loads[order[i]];
    const auto together = static_cast<double>(i + 1);
    const double wanted = turn.cycles - turn.least;
    const double most = wanted * together;
    const bool enough = spare >= most;
    const double by = enough ? wanted : spare / together;
    for (std::size_t j = 0; j <= i; ++j) {
      SingleLoad& load = loads[order[j]];
      if (negative) {
        load.cycles -= by;
      } else {
        const double less = std::clamp(by, 0.0, std::max(0.0, load.cycles - load.least));
        load.cycles -= less;
        spare -= less;
      }
    }
    if (!negative) continue;
    if (!enough) return;
    spare -= most;
  }
}

namespace {

void load_port(const Plan& plan, State& state, const PortPlan& port, PerLink<double>& load) {
  std::array<SingleLoad, max_served> single;
  std::array<PortLink, max_served> link_of;
  std::size_t count = 0;
  double busy = 0;  // bits a cycle of links with several periods
  for (std::size_t k = 0; k < port.count; ++k) {
    const PortLink& link = port.links[k];
    const OperandPlan& operand = plan.operands[link.operand];
    if (operand.output && (link.transfer == to_low || link.transfer == from_high)) continue;
    const double times = state.times[plan.time][link.operand][link.level][link.transfer];
    if (times == 0) continue;
    const double real = state.real[link.operand][link.level][link.transfer];
    const auto& data = state.data[plan.time][link.operand];
    const auto& bits = state.bits[plan.time][link.operand];
    if (times == 1) {
      single[count] = {real, ceiling(data[1] * bits[1] / port.max_bits)};
      link_of[count++] = link;
      continue;
    }
    const bool up = link.transfer == to_high || link.transfer == from_high;
    const std::size_t entry = link.level + (up ? 1U : 0U);
    const double period = state.period[link.operand][link.level][link.transfer];
    const double rate = data[entry] * bits[entry] / period;
    busy += truncate(up ? rate : rate * operand.boosts[plan.time][link.level]);
    load[link.operand][link.level][link.transfer] = real;
  }
  const double computing = state.cycles[state.count] + state.stall;
  const double spare = std::max(0.0, (port.max_bits - busy) / port.max_bits * computing);
  shorten(std::span(single.data(), count), spare, plan.negative_onloading);
  std::array<double, zigzag_operands> borrowed{};
  for (std::size_t i = 0; i < count; ++i) {
    const PortLink& link = link_of[i];
    load[link.operand][link.level][link.transfer] = single[i].cycles;
    if (link.level + 1U < plan.operands[link.operand].levels) continue;
    // Not a sum: ZigZag keeps the last.
    const double hidden = state.real[link.operand][link.level][link.transfer] - single[i].cycles;
    borrowed[link.operand] = ceiling(hidden / computing * port.max_bits);
  }
  for (std::size_t o = 0; o < zigzag_operands; ++o) state.borrowed[o] += borrowed[o];
}

// Loads of one input from level to level: on ports of its own, on ports that both inputs share, and on one of each.
struct InputLoad {
  double own = 0;
  double half_shared = 0;
  double shared = 0;
};

InputLoad input_load(const Plan& plan, std::size_t o, const PerLink<double>& load) {
  InputLoad sum;
  for (std::size_t level = 0; level + 1U < plan.operands[o].levels; ++level) {
    const double cycles = std::max(load[o][level][from_high], load[o][level + 1][to_low]);
    const bool below = plan.both_inputs[o][level][from_high];
    const bool above = plan.both_inputs[o][level + 1][to_low];
    if (below && above) {
      sum.shared += cycles;
    } else if (!below && !above) {
      sum.own += cycles;
    } else {
      sum.half_shared = cycles;  // not a sum: ZigZag keeps the last
    }
  }
  return sum;
}

}  // namespace

void cost_loading(const Plan& plan, State& state) {
  PerLink<double> load;
  state.borrowed.fill(0);
  for (const PortPlan& port : plan.ports) load_port(plan, state, port, load);
  const InputLoad a = input_load(plan, 1, load);
  const InputLoad b = input_load(plan, 2, load);
  const double a_first = a.shared + std::max(b.shared + b.half_shared + b.own, a.half_shared + a.own);
  const double b_first = b.shared + std::max(a.shared + a.half_shared + a.own, b.half_shared + b.own);
  state.onload = std::min(a_first, b_first);
  state.offload = 0;
  for (std::size_t level = 0; level + 1U < plan.operands[0].levels; ++level) {
    state.offload += std::max(load[0][level][to_high], load[0][level + 1][from_low]);
  }
}

}  // namespace monet::zigzag
