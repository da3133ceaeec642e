#include "compat/zigzag/evaluate.h"

#include "compat/zigzag/allocate.h"
#include "compat/zigzag/latency.h"
#include "compat/zigzag/movement.h"
#include "compat/zigzag/python.h"
#include "compat/zigzag/state.h"

namespace monet::zigzag {

namespace {

// Requires move_data() with average lanes. False: data cross where the memory has no port.
bool cost_energy(const Plan& plan, State& state) {
  double memory_pj = 0;
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    const OperandPlan& operand = plan.operands[o];
    for (std::size_t level = 0; level < operand.levels; ++level) {
      auto& accesses = state.accesses[o][level];
      const auto& amount = state.amount[average][o][level];
      const auto& precision = state.precision[average][o][level];
      const auto& times = state.times[average][o][level];
      for (std::size_t t = 0; t < transfer_count; ++t) {
        accesses[t] = 0;
        if (amount[t] == 0) continue;
        const LinkPlan& link = operand.link[level][t];
        if (!link.exists) return false;
        if (precision[t] == 0) continue;
        const double words = ceiling(amount[t] * precision[t] / link.min_bits);
        accesses[t] = truncate(words * link.ratio * times[t] * operand.units[level + 1]);
      }
      const MemoryPlan& memory = plan.memories[operand.memory[level]];
      const double read = accesses[to_high] * memory.read_pj + accesses[to_low] * memory.read_pj;
      const double written = accesses[from_high] * memory.write_pj + accesses[from_low] * memory.write_pj;
      state.level_pj[o][level] = read + written;
      memory_pj += read + written;
    }
  }
  state.memory_pj = memory_pj;
  state.energy_pj = memory_pj + plan.mac_pj * plan.macs;
  return true;
}

}  // namespace

Verdict evaluate(const Plan& plan, std::span<const Factor> order, const Ceiling& ceiling, State& state) {
  set_order(state, order);
  if (!allocate(plan, state)) return Verdict::too_small;
  move_data(plan, state, average);
  if (!cost_energy(plan, state)) return Verdict::no_port;
  if (state.energy_pj > ceiling.energy_pj) return Verdict::too_costly;
  if (plan.time != average) move_data(plan, state, plan.time);
  cost_latency(plan, state);
  return Verdict::costed;
}

}  // namespace monet::zigzag
