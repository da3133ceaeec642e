// Every mapping of a small problem, one by one, by nothing but the cost of a given mapping.
#pragma once

#include "mapping/factors.h"
#include "mapping/order.h"
#include "mapping/search.h"

#include <algorithm>
#include <vector>

namespace monet::test {

struct BruteForce {
  Score best;
  double least_cycles = std::numeric_limits<double>::infinity();
  double least_pj = std::numeric_limits<double>::infinity();
  std::size_t tried = 0, fitting = 0;
};

// All ways to cut `levels` levels of an operand among n loops.
inline std::vector<std::vector<std::uint8_t>> all_cuts(std::size_t levels, std::size_t n) {
  std::vector<std::vector<std::uint8_t>> result = {{}};
  for (std::size_t level = 0; level + 1 < levels; ++level) {
    std::vector<std::vector<std::uint8_t>> longer;
    for (const auto& cuts : result) {
      for (std::size_t cut = cuts.empty() ? 0 : cuts.back(); cut <= n; ++cut) {
        longer.push_back(cuts);
        longer.back().push_back(static_cast<std::uint8_t>(cut));
      }
    }
    result = std::move(longer);
  }
  for (auto& cuts : result) cuts.push_back(static_cast<std::uint8_t>(n));
  return result;
}

inline BruteForce brute_force(const Problem& problem, const Target& target, Objective objective, std::size_t factors,
                              const std::vector<Unrolling>& unrollings) {
  BruteForce result;
  for (const Unrolling& unrolling : unrollings) {
    std::vector<Factor> order = factors_of(unrolling.iterations, factors);
    const auto smaller = [](const Factor& a, const Factor& b) {
      return std::pair(a.loop, a.size) < std::pair(b.loop, b.size);
    };
    std::ranges::sort(order, smaller);
    do {
      Mapping mapping{.spatial = unrolling.spatial, .temporal = {}, .cuts = {}};
      for (const Factor& factor : order) mapping.temporal.push_back({factor.loop, factor.size});
      std::vector<std::vector<std::vector<std::uint8_t>>> choices;
      for (const ProblemOperand& operand : problem.operands) {
        choices.push_back(all_cuts(target.levels[static_cast<std::size_t>(operand.path)].size(), order.size()));
      }
      std::vector<std::size_t> at(choices.size(), 0);
      for (bool more = true; more;) {
        mapping.cuts.clear();
        for (std::size_t o = 0; o < choices.size(); ++o) mapping.cuts.push_back(choices[o][at[o]]);
        ++result.tried;
        if (const auto mapped = cost_of(problem, target, mapping)) {
          ++result.fitting;
          const Score score = score_of(objective, mapped->cost.cycles, mapped->cost.energy_pj);
          if (score < result.best) result.best = score;
          result.least_cycles = std::min(result.least_cycles, mapped->cost.cycles);
          result.least_pj = std::min(result.least_pj, mapped->cost.energy_pj);
        }
        more = false;
        for (std::size_t o = 0; o < at.size() && !more; ++o) {
          more = ++at[o] < choices[o].size();
          if (!more) at[o] = 0;
        }
      }
    } while (std::next_permutation(order.begin(), order.end(), smaller));
  }
  return result;
}

}  // namespace monet::test
