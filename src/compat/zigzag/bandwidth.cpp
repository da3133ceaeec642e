#include "compat/zigzag/bandwidth.h"

#include "compat/zigzag/python.h"

#include <algorithm>

namespace monet::zigzag {

double top_bandwidth(const Plan& plan, const State& state, std::size_t o) {
  const OperandPlan& operand = plan.operands[o];
  const std::size_t top = operand.levels - 1U;
  const std::size_t v = plan.time;
  const double period = state.period[o][top][operand.output ? from_low : to_low];
  const double average = state.data[v][o][top] * state.bits[v][o][top] / period * operand.boosts[v][top];
  double wanted = truncate(truncate(average) * truncate(state.top_irrelevant[o][top]));
  if (operand.output && state.partial[v][top]) wanted *= 2;
  return wanted + state.borrowed[o];
}

double latency_when_shared(const Plan& plan, const State& state, std::int64_t cores) {
  std::uint8_t levels = 0;
  for (const OperandPlan& operand : plan.operands) levels = std::max(levels, operand.levels);
  // Operands in the order of the paths, as the highest memory lists them.
  std::size_t memory = 0;
  for (const OperandPlan& operand : plan.operands) {
    if (operand.levels == levels) memory = operand.memory[levels - 1U];
  }
  const MemoryPlan& highest = plan.memories[memory];
  const auto count = static_cast<double>(cores);
  double wanted = 0;
  bool same_for_all = true;
  for (std::size_t k = 0; k < highest.operand_count; ++k) {
    const std::uint8_t o = highest.operands[k];
    if (plan.operands[o].levels != levels) continue;
    const double bandwidth = top_bandwidth(plan, state, o);
    wanted += bandwidth * (same_for_all && !plan.operands[o].output ? 1 : count);
    if (!plan.operands[o].output) same_for_all = false;
  }
  return ceiling(wanted / highest.width_bits) * truncate(state.latency);
}

}  // namespace monet::zigzag
