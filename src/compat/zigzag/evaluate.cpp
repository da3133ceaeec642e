#include "compat/zigzag/evaluate.h"

#include "compat/zigzag/latency.h"
#include "compat/zigzag/movement.h"
#include "compat/zigzag/python.h"
#include "compat/zigzag/state.h"

#include <limits>

namespace monet::zigzag {

namespace {

using Sizes = std::array<double, max_loops>;  // of the loops that are allocated, by loop

inline double elements(const Plan& plan, const OperandPlan& operand, const Sizes& sizes) {
  double product = 1;
  for (std::size_t k = 0; k < operand.relevant_count; ++k) product *= sizes[operand.relevant[k]];
  if (!operand.windows) return product;
  for (std::size_t w = 0; w < plan.window_count; ++w) {
    const WindowSize& window = plan.windows[w];
    product *= window(sizes[window.outer], sizes[window.inner]);
  }
  return product;
}

// For one operand and one memory: bits it needs with the first i of the loops that are left, and what then crosses to
// the level above.
struct Choices {
  std::uint8_t count;
  std::uint8_t offset;  // loops of the first choice
  std::array<double, max_factors + 1> bits;
  std::array<double, max_factors + 1> crossing;
};

struct Filling {
  std::array<Sizes, zigzag_operands> sizes;
  std::array<std::uint8_t, zigzag_operands> taken{};  // loops allocated
  std::array<std::uint8_t, zigzag_operands> level{};  // next to fill
};

void unroll_entry(const OperandPlan& operand, std::size_t entry, Sizes& sizes) {
  for (std::size_t k = operand.first[entry]; k < operand.first[entry + 1]; ++k) {
    const Unrolled& each = operand.unrolled[average][k];
    sizes[each.loop] *= each.size;
  }
}

double stored_bits(const Plan& plan, const OperandPlan& operand, const State& state, const Filling& filling,
                   std::size_t o) {
  if (!operand.output) return operand.bits;
  if (operand.has_irrelevant_loop[filling.level[o] + 1U]) return operand.bits;
  for (std::size_t i = filling.taken[o]; i < state.count; ++i) {
    if (operand.relevance[state.loop[i]] == Relevance::irrelevant) return operand.bits;
  }
  return plan.final_bits;
}

bool choose(const Plan& plan, const State& state, const Filling& filling, const MemoryPlan& memory, std::size_t k,
            Choices& choices) {
  const std::size_t o = memory.operands[k];
  const OperandPlan& operand = plan.operands[o];
  const double bits = stored_bits(plan, operand, state, filling, o);
  Sizes sizes = filling.sizes[o];
  const std::size_t left = state.count - filling.taken[o];
  choices.count = 1;
  choices.offset = 0;
  if (memory.top[k]) {
    for (std::size_t i = filling.taken[o]; i < state.count; ++i) sizes[state.loop[i]] *= state.size[i];
    choices.offset = static_cast<std::uint8_t>(left);
    choices.bits[0] = elements(plan, operand, sizes) * bits;
    choices.crossing[0] = 0;
    return choices.bits[0] <= memory.size_bits;
  }
  double needed = elements(plan, operand, sizes) * bits;
  if (needed > memory.size_bits) return false;
  choices.bits[0] = needed;
  for (std::size_t i = 0; i < left; ++i) {
    const std::uint8_t loop = state.loop[filling.taken[o] + i];
    sizes[loop] *= state.size[filling.taken[o] + i];
    const Relevance relevance = operand.relevance[loop];
    if (relevance == Relevance::relevant || relevance == Relevance::window) {
      needed = elements(plan, operand, sizes) * bits;
      if (needed > memory.size_bits) break;
    }
    choices.bits[choices.count++] = needed;
  }
  for (std::size_t i = 0; i < choices.count; ++i) {
    const double iterations = state.cycles[state.count] / state.cycles[filling.taken[o] + i];
    choices.crossing[i] = iterations * choices.bits[i];
  }
  return true;
}

// The combination that crosses least among those that fit; of equals the last. False: not even the smallest fits.
bool combine(const MemoryPlan& memory, const std::array<Choices, zigzag_operands>& choices,
             std::array<std::uint8_t, zigzag_operands>& best) {
  static constexpr Choices nothing{1, 0, {}, {}};
  const Choices& a = memory.operand_count > 2 ? choices[0] : nothing;
  const Choices& b = memory.operand_count > 1 ? choices[memory.operand_count - 2U] : nothing;
  const Choices& c = choices[memory.operand_count - 1U];
  if (a.bits[0] + b.bits[0] + c.bits[0] > memory.size_bits) return false;
  double least = std::numeric_limits<double>::infinity();
  std::array<std::uint8_t, zigzag_operands> found{};
  for (std::uint8_t i = 0; i < a.count; ++i) {
    for (std::uint8_t j = 0; j < b.count; ++j) {
      const double bits = a.bits[i] + b.bits[j];
      const double crossing = a.crossing[i] + b.crossing[j];
      for (std::uint8_t k = 0; k < c.count; ++k) {
        if (bits + c.bits[k] > memory.size_bits || crossing + c.crossing[k] > least) continue;
        least = crossing + c.crossing[k];
        found = {i, j, k};
      }
    }
  }
  for (std::size_t k = 0; k < memory.operand_count; ++k) {
    best[k] = static_cast<std::uint8_t>(found[zigzag_operands - memory.operand_count + k] + choices[k].offset);
  }
  return true;
}

bool fill(const Plan& plan, State& state, Filling& filling, const MemoryPlan& memory) {
  if (memory.operand_count == 0) return true;
  std::array<Choices, zigzag_operands> choices;
  for (std::size_t k = 0; k < memory.operand_count; ++k) {
    if (!choose(plan, state, filling, memory, k, choices[k])) return false;
  }
  std::array<std::uint8_t, zigzag_operands> best{};
  if (!combine(memory, choices, best)) return false;
  for (std::size_t k = 0; k < memory.operand_count; ++k) {
    const std::size_t o = memory.operands[k];
    for (std::uint8_t i = 0; i < best[k]; ++i) {
      const std::size_t at = filling.taken[o] + i;
      filling.sizes[o][state.loop[at]] *= state.size[at];
    }
    filling.taken[o] = static_cast<std::uint8_t>(filling.taken[o] + best[k]);
    state.filled[o][filling.level[o]] = filling.taken[o];
    unroll_entry(plan.operands[o], filling.level[o] + 1U, filling.sizes[o]);
    ++filling.level[o];
  }
  return true;
}

void sink(const Plan& plan, State& state) {
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    const OperandPlan& operand = plan.operands[o];
    const auto irrelevant = [&](std::size_t i) { return operand.relevance[state.loop[i]] == Relevance::irrelevant; };
    for (std::size_t level = 0; level < operand.levels; ++level) {
      std::uint8_t end = state.filled[o][level];
      while (end < state.count && irrelevant(end)) ++end;
      state.cut[o][level] = end;
    }
    std::size_t still = 0;
    while (still < state.cut[o][0] && irrelevant(still)) ++still;
    state.stationary[o] = state.cycles[still];
  }
}

// Fills memories bottom-up: each takes as many of the loops that are left, operand by operand, as fit it together and
// make the fewest elements cross to the level above; the highest of a path takes all that is left. Then loops at the
// bottom of a level that leave its operand alone sink to the level below. False: a memory is too small.
bool allocate(const Plan& plan, State& state) {
  Filling filling;
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    filling.sizes[o].fill(1);
    unroll_entry(plan.operands[o], 0, filling.sizes[o]);
  }
  for (std::uint8_t m : plan.order) {
    if (!fill(plan, state, filling, plan.memories[m])) return false;
  }
  sink(plan, state);
  return true;
}

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
