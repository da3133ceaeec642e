// Random small fusion problems, and what is true of them by trying everything.
#pragma once

#include "mapping/random_cases.h"
#include "optimize/fusion/cover.h"

#include <bit>
#include <limits>
#include <vector>

namespace monet::test {

// A random graph of up to `most` operators with random kinds, tilings and weights on two kinds of cores.
inline fusion::Problem random_fusion_problem(Random& random, std::int64_t most) {
  using fusion::Index;
  fusion::Problem problem;
  const auto count = static_cast<std::size_t>(random.between(2, most));
  problem.capacities = {100, -1};
  std::vector<std::vector<Index>> readers(count), beside(count), after(count);
  for (Index i = 0; i < count; ++i) {
    problem.nodes.emplace_back(i);
    problem.operator_of.push_back(i);
    problem.kinds.push_back(static_cast<fusion::Kind>(random.between(0, 3)));
    problem.tilings.push_back(random.one_of<std::int64_t>({1, 2, 4, 4, 8, 6}));
    problem.weights.push_back(random.chance(0.3) ? random.between(1, 80) : 0);
    problem.weights.push_back(random.chance(0.3) ? random.between(1, 80) : 0);
    problem.bytes.push_back(random.between(1, 50));
    std::vector<fusion::Read> reads;
    std::vector<Index> before;
    for (Index j = i >= 5 ? i - 5 : 0; j < i; ++j) {
      const bool near = j + 1 == i;
      if (random.chance(near ? 0.7 : 0.2)) {
        reads.push_back({j, j});
        before.push_back(j);
        readers[j].push_back(i);
        after[j].push_back(i);
        beside[i].push_back(j);
        beside[j].push_back(i);
      } else if (random.chance(0.05)) {  // an order without data
        before.push_back(j);
        after[j].push_back(i);
      }
    }
    problem.reads.add(reads);
    problem.before.add(before);
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::ranges::sort(beside[i]);
    problem.readers.add(readers[i]);
    problem.beside.add(beside[i]);
    problem.after.add(after[i]);
  }
  return problem;
}

// Sets as bits of their operators.
class EverySet {
 public:
  EverySet(const fusion::Problem& problem, const fusion::Rules& rules) : problem_(problem), rules_(rules) {
    for (std::uint32_t mask = 1; mask < (1U << problem.size()); ++mask) {
      if (std::has_single_bit(mask) || allowed(mask)) sets_.push_back(mask);
    }
  }

  const std::vector<std::uint32_t>& sets() const { return sets_; }

  // The least cost of a cover whose sets can run in turn. `cost_of` a set.
  template <class CostOf>
  double least(const CostOf& cost_of) const {
    double best = std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> chosen;
    extend(0, 0, chosen, best, cost_of);
    return best;
  }

  // Whether the sets, which cover everything, can run in turn: one whose predecessors have all run is always there.
  bool can_run(const std::vector<std::uint32_t>& sets) const {
    std::uint32_t done = 0;
    for (std::size_t round = 0; round < sets.size(); ++round) {
      bool one = false;
      for (std::uint32_t set : sets) {
        if ((set & done) != 0 || (before(set) & ~(done | set)) != 0) continue;
        done |= set;
        one = true;
      }
      if (!one) break;
    }
    return done == (1U << problem_.size()) - 1;
  }

 private:
  static bool has(std::uint32_t mask, std::size_t i) { return ((mask >> i) & 1U) != 0; }

  std::uint32_t before(std::uint32_t mask) const {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < problem_.size(); ++i) {
      if (!has(mask, i)) continue;
      for (fusion::Index j : problem_.before[i]) result |= 1U << j;
    }
    return result;
  }

  bool allowed(std::uint32_t mask) const {
    std::size_t kinds[4] = {0, 0, 0, 0}, leaving = 0;
    std::int64_t weights[2] = {0, 0};
    for (std::size_t i = 0; i < problem_.size(); ++i) {
      if (!has(mask, i)) continue;
      ++kinds[static_cast<int>(problem_.kinds[i])];
      bool leaves = false;
      for (fusion::Index reader : problem_.readers[i]) leaves |= !has(mask, reader);
      leaving += leaves ? 1 : 0;
      weights[0] += problem_.weights[2 * i];
      weights[1] += problem_.weights[2 * i + 1];
      for (std::size_t j = 0; rules_.divisible_tilings && j < i; ++j) {
        const std::int64_t a = problem_.tilings[i], b = problem_.tilings[j];
        if (has(mask, j) && std::max(a, b) % std::min(a, b) != 0) return false;
      }
    }
    if (static_cast<std::size_t>(std::popcount(mask)) > rules_.limit || leaving > rules_.leaving) return false;
    if (kinds[0] > rules_.convolutions || kinds[1] > rules_.transposed || kinds[2] > rules_.products) return false;
    if (kinds[2] > 0 && kinds[0] + kinds[1] > rules_.convolutions_with_product) return false;
    for (std::size_t k = 0; k < 2; ++k) {
      if (rules_.weights_fit && problem_.capacities[k] >= 0 && weights[k] > problem_.capacities[k]) return false;
    }
    return connected(mask) && convex(mask);
  }

  bool connected(std::uint32_t mask) const {
    std::uint32_t met = mask & -mask;
    for (std::uint32_t last = 0; last != met;) {
      last = met;
      for (std::size_t i = 0; i < problem_.size(); ++i) {
        if (!has(met, i)) continue;
        for (const fusion::Read& read : problem_.reads[i]) met |= mask & (1U << read.maker);
        for (fusion::Index reader : problem_.readers[i]) met |= mask & (1U << reader);
      }
    }
    return met == mask;
  }

  // With all others single there is an order.
  bool convex(std::uint32_t mask) const {
    std::vector<std::uint32_t> sets{mask};
    for (std::size_t i = 0; i < problem_.size(); ++i) {
      if (!has(mask, i)) sets.push_back(1U << i);
    }
    return can_run(sets);
  }

  template <class CostOf>
  void extend(std::uint32_t covered, double cost, std::vector<std::uint32_t>& chosen, double& best,
              const CostOf& cost_of) const {
    if (cost >= best) return;
    const auto next = static_cast<std::size_t>(std::countr_one(covered));
    if (next == problem_.size()) {
      if (can_run(chosen)) best = cost;
      return;
    }
    for (std::uint32_t set : sets_) {
      if (!has(set, next) || (set & covered) != 0) continue;
      chosen.push_back(set);
      extend(covered | set, cost + cost_of(set), chosen, best, cost_of);
      chosen.pop_back();
    }
  }

  const fusion::Problem& problem_;
  const fusion::Rules& rules_;
  std::vector<std::uint32_t> sets_;
};

inline fusion::Rules random_fusion_rules(Random& random) {
  fusion::Rules rules;
  rules.limit = static_cast<std::size_t>(random.between(2, 6));
  rules.leaving = static_cast<std::size_t>(random.between(1, 3));
  if (random.chance(0.5)) rules.products = rules.convolutions_with_product = 3;
  rules.divisible_tilings = random.chance(0.5);
  rules.weights_fit = random.chance(0.5);
  return rules;
}

}  // namespace monet::test
