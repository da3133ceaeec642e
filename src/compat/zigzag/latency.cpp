#include "compat/zigzag/latency.h"

#include "compat/zigzag/loading.h"
#include "compat/zigzag/python.h"

#include <algorithm>

namespace monet::zigzag {

namespace {

using Flags = PerLevel<bool, max_levels + 1>;  // level i - 1 can be filled while it is read

// A level that is at most half full is double-buffered, or one with room for another copy of an operand's share: then
// the operand takes that room.
void find_double_buffers(const Plan& plan, const State& state, Flags& flags) {
  PerLevel<double, max_levels> own;
  std::array<double, max_memories> fill{};  // of each memory, all operands together
  const std::size_t v = average;
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    const OperandPlan& operand = plan.operands[o];
    for (std::size_t level = 0; level < operand.levels; ++level) {
      const double bits = state.data[v][o][level + 1] * state.bits[v][o][level + 1];
      own[o][level] =
          truncate(bits / state.top_relevant[o][level + 1]) / plan.memories[operand.memory[level]].size_bits;
    }
  }
  for (std::size_t m = 0; m < plan.memories.size(); ++m) {
    const MemoryPlan& memory = plan.memories[m];
    for (std::size_t k = 0; k < memory.operand_count; ++k) fill[m] += own[memory.operands[k]][memory.level[k]];
  }
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    const OperandPlan& operand = plan.operands[o];
    flags[o][0] = false;
    for (std::size_t level = 0; level < operand.levels; ++level) {
      double& all = fill[operand.memory[level]];
      flags[o][level + 1] = true;
      if (all <= 0.5) continue;
      if (own[o][level] <= 1 - all) {
        if (plan.memories[operand.memory[level]].operand_count > 1) all += own[o][level];
      } else {
        flags[o][level + 1] = false;
      }
    }
  }
}

// Cycles of a period in which a link may transfer.
double window_of(const State& state, const Flags& flags, const PortLink& link) {
  const bool up = link.transfer == to_high || link.transfer == from_high;
  const std::size_t entry = link.level + (up ? 1U : 0U);
  const double period = state.period[link.operand][link.level][link.transfer];
  return flags[link.operand][entry] ? period : truncate(period / state.top_irrelevant[link.operand][entry]);
}

double port_stall(const Plan& plan, const State& state, const Flags& flags, const PortPlan& port) {
  std::array<PortWindow, max_served> windows;
  std::size_t count = 0;
  double late = 0;   // of links that take longer than their windows
  double spare = 0;  // of those that do not, negative
  double open = 0;   // all windows
  double only = 0;
  bool whole_time = false;
  double total = 0;
  for (std::size_t k = 0; k < port.count; ++k) {
    const PortLink& link = port.links[k];
    const double times = state.times[plan.time][link.operand][link.level][link.transfer];
    if (times == 0) continue;
    const double period = state.period[link.operand][link.level][link.transfer];
    const double window = window_of(state, flags, link);
    only = (state.real[link.operand][link.level][link.transfer] - window) * (times - 1);
    (only > 0 ? late : spare) += only;
    open += window * (times - 1);
    whole_time |= window == period;
    total = period * times;
    windows[count++] = {period, window};
  }
  if (count < 2) return count == 0 ? 0 : only;
  double together = total;
  if (!whole_time) {
    const std::span used(windows.data(), count);
    double longest = 0;
    for (const PortWindow& each : used) longest = std::max(longest, each.period);
    together = windows_union(used) * (total / longest);
  }
  return late + std::max(0.0, spare + open - together);
}

}  // namespace

double windows_union(std::span<PortWindow> windows) {
  std::ranges::sort(windows, {}, &PortWindow::period);
  // free_in[j]: cycles of period j that no window up to j covers; free_before[j]: those of the first `window` cycles
  // that no window before j covers.
  std::array<double, max_served> free_in;
  std::array<double, max_served> free_before;
  const auto free_cycles = [&](std::size_t count, double cycles) {
    double free = 0;
    while (count > 0) {
      const PortWindow& each = windows[count - 1];
      const double periods = truncate(cycles / each.period);
      free += periods * free_in[count - 1];
      cycles -= periods * each.period;
      if (cycles <= each.window) return free;
      free -= free_before[count - 1];
      --count;
    }
    return free + cycles;
  };
  for (std::size_t j = 0; j < windows.size(); ++j) {
    free_before[j] = free_cycles(j, windows[j].window);
    free_in[j] = free_cycles(j, windows[j].period) - free_before[j];
  }
  return windows.back().period - free_in[windows.size() - 1];
}

void cost_latency(const Plan& plan, State& state) {
  Flags flags;
  find_double_buffers(plan, state, flags);
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    const OperandPlan& operand = plan.operands[o];
    for (std::size_t level = 0; level < operand.levels; ++level) {
      for (std::size_t t = 0; t < transfer_count; ++t) {
        const LinkPlan& link = operand.link[level][t];
        const double bits = state.amount[plan.time][o][level][t] * state.precision[plan.time][o][level][t];
        state.real[o][level][t] = link.exists ? ceiling(bits / link.max_bits) : 0;
      }
    }
  }
  state.stall = 0;
  for (const PortPlan& port : plan.ports) state.stall = std::max(state.stall, port_stall(plan, state, flags, port));
  cost_loading(plan, state);
  const double cycles = state.cycles[state.count];
  state.latency0 = cycles + state.stall;
  state.latency1 = cycles + state.stall + state.onload;
  state.latency = cycles + state.stall + state.onload + state.offload;
}

}  // namespace monet::zigzag
