// One order of the temporal loops, and what the steps of the model find out about it.
#pragma once

#include "compat/zigzag/plan.h"

#include <array>
#include <cstdint>

namespace monet::zigzag {

template <class T>
using PerLink = std::array<std::array<std::array<T, transfer_count>, max_levels>, zigzag_operands>;

template <class T, std::size_t n>
using PerLevel = std::array<std::array<T, n>, zigzag_operands>;

enum Direction : std::uint8_t { from_high, to_low, from_low, to_high };  // Transfer, as an index

struct State {
  // The order.
  std::uint8_t count = 0;
  std::array<std::uint8_t, max_factors> loop{};  // innermost first
  std::array<double, max_factors> size{};
  std::array<double, max_factors + 1> cycles{};  // of the first i loops

  // allocate(): loops at or below each level, as filled, and after loops that leave an operand alone have sunk.
  PerLevel<std::uint8_t, max_levels> filled{};
  PerLevel<std::uint8_t, max_levels> cut{};
  std::array<double, zigzag_operands> stationary{};  // cycles for which the lowest level's data stay at the lanes

  // movement.h
  std::array<PerLevel<double, max_levels + 1>, variant_count> data{};     // elements in one instance of level i - 1
  std::array<PerLevel<double, max_levels + 1>, variant_count> bits{};     // of one of them
  std::array<std::array<bool, max_levels + 1>, variant_count> partial{};  // output: sums come back to level i
  std::array<PerLink<double>, variant_count> amount{};                    // elements in one period
  std::array<PerLink<double>, variant_count> precision{};                 // bits of one of them; 0: they do not move
  std::array<PerLink<double>, variant_count> times{};                     // periods; 0: no traffic
  PerLink<double> period{};                                               // cycles of one
  PerLevel<double, max_levels + 1> top_relevant{};                        // uppermost loops of level i - 1
  PerLevel<double, max_levels + 1> top_irrelevant{};

  // energy.h
  PerLink<double> accesses{};
  PerLevel<double, max_levels> level_pj{};
  double memory_pj = 0;
  double energy_pj = 0;

  // latency.h
  PerLink<double> real{};  // cycles that a period's transfer takes
  // Of the ports of each operand's highest memory: bits a cycle for loads that happen while the lanes work.
  std::array<double, zigzag_operands> borrowed{};
  double stall = 0;
  double onload = 0;
  double offload = 0;
  double latency0 = 0;
  double latency1 = 0;
  double latency = 0;
};

// Loads an order.
inline void set_order(State& state, std::span<const Factor> order) {
  state.count = static_cast<std::uint8_t>(order.size());
  state.cycles[0] = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    state.loop[i] = order[i].loop;
    state.size[i] = static_cast<double>(order[i].size);
    state.cycles[i + 1] = state.cycles[i] * state.size[i];
  }
}

}  // namespace monet::zigzag
