// Is the choice of sets the best there is? Against all covers of random small graphs, with every technique on and off.
#include "optimize/fusion_problems.h"

#include "optimize/fusion/choose.h"
#include "optimize/fusion/part.h"
#include "optimize/fusion/rings.h"

#include <gtest/gtest.h>

#include <set>

namespace monet::fusion {
namespace {

using test::EverySet;
using test::Random;
using test::random_fusion_problem;
using test::random_fusion_rules;

std::uint32_t mask_of(std::span<const Index> set) {
  std::uint32_t mask = 0;
  for (Index op : set) mask |= 1U << op;
  return mask;
}

// Whole numbers, so that sums are exact.
std::vector<double> random_costs(Random& random, const Candidates& candidates, std::size_t operators) {
  std::vector<double> costs;
  for (std::size_t s = 0; s < candidates.sets.size(); ++s) {
    double alone = 0;
    for (Index op : candidates.sets[s]) alone += s < operators ? 0 : costs[op];
    const double cost = s < operators ? static_cast<double>(random.between(5, 20))
                                      : std::max(1.0, alone - static_cast<double>(random.between(-3, 12)));
    costs.push_back(s >= operators && random.chance(0.05) ? std::numeric_limits<double>::infinity() : cost);
  }
  return costs;
}

class FusionCover : public ::testing::TestWithParam<int> {};

TEST_P(FusionCover, CandidatesAreAllSetsThatKeepTheRules) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  const Problem problem = random_fusion_problem(random, 12);
  const Rules rules = random_fusion_rules(random);
  const Candidates candidates = candidates_of(problem, rules, Reachability(problem));
  ASSERT_TRUE(candidates.complete);
  std::set<std::uint32_t> found;
  for (std::size_t s = 0; s < candidates.sets.size(); ++s) {
    EXPECT_TRUE(std::ranges::is_sorted(candidates.sets[s]));
    EXPECT_TRUE(found.insert(mask_of(candidates.sets[s])).second) << "twice";
  }
  const EverySet every(problem, rules);
  EXPECT_EQ(found, std::set<std::uint32_t>(every.sets().begin(), every.sets().end()));
}

TEST_P(FusionCover, EveryCombinationOfTechniquesFindsTheLeastCost) {
  Random random(static_cast<std::uint64_t>(GetParam()) + 1000);
  const Problem problem = random_fusion_problem(random, 12);
  const Rules rules = random_fusion_rules(random);
  const Candidates candidates = candidates_of(problem, rules, Reachability(problem));
  const std::vector<double> costs = random_costs(random, candidates, problem.size());
  std::map<std::uint32_t, double> cost_of;
  for (std::size_t s = 0; s < candidates.sets.size(); ++s) cost_of[mask_of(candidates.sets[s])] = costs[s];
  const EverySet every(problem, rules);
  const double least = every.least([&](std::uint32_t set) { return cost_of.at(set); });
  for (int switches = 0; switches < 32; ++switches) {
    CoverOptions options;
    options.dominance = (switches & 1) != 0;
    options.decompose = (switches & 2) != 0;
    options.repeat = (switches & 4) != 0;
    options.dynamic = (switches & 8) != 0;
    options.lift = (switches & 16) != 0;
    const Cover found = cover(problem, candidates, costs, options);
    EXPECT_NEAR(found.cost, least, 1e-6) << "switches " << switches;
    EXPECT_NEAR(found.bound, least, 1e-6);
    EXPECT_TRUE(found.proven);
    std::vector<std::uint32_t> sets;
    std::uint32_t covered = 0;
    for (std::uint32_t s : found.chosen) {
      sets.push_back(mask_of(candidates.sets[s]));
      EXPECT_EQ(covered & sets.back(), 0U);
      covered |= sets.back();
    }
    EXPECT_EQ(covered, (1U << problem.size()) - 1);
    EXPECT_TRUE(every.can_run(sets));
  }
}

TEST_P(FusionCover, PiecesKeepTheBoundBelowTheLeastCost) {
  Random random(static_cast<std::uint64_t>(GetParam()) + 2000);
  const Problem problem = random_fusion_problem(random, 12);
  const Rules rules = random_fusion_rules(random);
  const Candidates candidates = candidates_of(problem, rules, Reachability(problem));
  const std::vector<double> ones(candidates.sets.size(), 1.0);
  const EverySet every(problem, rules);
  const double least = every.least([](std::uint32_t) { return 1.0; });
  CoverOptions options;
  options.part_operators = 4;
  const Cover found = cover(problem, candidates, ones, options);
  EXPECT_LE(found.bound, least + 1e-6);
  EXPECT_GE(found.cost, least - 1e-6);
  EXPECT_GE(found.cost, found.bound);
  std::vector<std::uint32_t> sets;
  for (std::uint32_t s : found.chosen) sets.push_back(mask_of(candidates.sets[s]));
  EXPECT_TRUE(every.can_run(sets));
}

TEST_P(FusionCover, TrafficIsWhatSetsReadOfEachOther) {
  Random random(static_cast<std::uint64_t>(GetParam()) + 3000);
  const Problem problem = random_fusion_problem(random, 10);
  const Rules rules = random_fusion_rules(random);
  const Candidates candidates = candidates_of(problem, rules, Reachability(problem));
  const auto bytes_into = [&](std::uint32_t set) {
    std::uint32_t read = 0;  // tensor i is what operator i makes
    for (Index op = 0; op < problem.size(); ++op) {
      if (((set >> op) & 1U) == 0) continue;
      for (const Read& each : problem.reads[op]) read |= 1U << each.maker;
    }
    double bytes = 0;
    for (Index op = 0; op < problem.size(); ++op) {
      if ((((read & ~set) >> op) & 1U) != 0) bytes += static_cast<double>(problem.bytes[op]);
    }
    return bytes;
  };
  const Chosen chosen = choose(problem, candidates, {}, Objective::traffic, {});
  EXPECT_TRUE(chosen.proven);
  EXPECT_NEAR(chosen.covers.front().cost, EverySet(problem, rules).least(bytes_into), 1e-6);
}

// The product of two sums: brute force over all covers.
TEST_P(FusionCover, TheLeastProductIsAmongTheCorners) {
  Random random(static_cast<std::uint64_t>(GetParam()) + 4000);
  const Problem problem = random_fusion_problem(random, 8);
  const Rules rules = random_fusion_rules(random);
  const Candidates candidates = candidates_of(problem, rules, Reachability(problem));
  Prices prices;
  for (std::uint32_t s = 0; s < candidates.sets.size(); ++s) {
    const auto size = static_cast<double>(candidates.sets[s].size());
    const Cost cost{std::ceil(size * static_cast<double>(random.between(5, 20))),
                    std::ceil(size * static_cast<double>(random.between(5, 20)))};
    prices.class_of.push_back(s);
    prices.prices.push_back({.ways = {{.tiles = {}, .cost = cost, .count = 1}}, .failure = {}});
  }
  const EverySet every(problem, rules);
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::uint32_t> chosen;
  std::map<std::uint32_t, std::uint32_t> number;
  for (std::uint32_t s = 0; s < candidates.sets.size(); ++s) number[mask_of(candidates.sets[s])] = s;
  const auto extend = [&](const auto& self, std::uint32_t covered, double cycles, double energy) -> void {
    const auto next = static_cast<std::size_t>(std::countr_one(covered));
    if (next == problem.size()) {
      if (every.can_run(chosen)) least = std::min(least, cycles * energy);
      return;
    }
    for (std::uint32_t set : every.sets()) {
      if (((set >> next) & 1U) == 0 || (set & covered) != 0) continue;
      const Cost& cost = prices.of(number.at(set)).ways.front().cost;
      chosen.push_back(set);
      self(self, covered | set, cycles + cost.cycles, energy + cost.energy_pj);
      chosen.pop_back();
    }
  };
  extend(extend, 0, 0, 0);
  const Chosen found = choose(problem, candidates, prices, Objective::edp, {});
  EXPECT_TRUE(found.proven);
  double cycles = 0, energy = 0;
  for (std::uint32_t s : found.covers.front().chosen) {
    cycles += prices.of(s).ways.front().cost.cycles;
    energy += prices.of(s).ways.front().cost.energy_pj;
  }
  EXPECT_NEAR(cycles * energy, least, 1e-6 * least);
}

INSTANTIATE_TEST_SUITE_P(Random, FusionCover, ::testing::Range(0, 60));

TEST(FusionParts, EqualPartsAreSolvedOnce) {
  // Ten chains of four operators that nothing joins.
  Problem problem;
  std::vector<std::vector<Index>> to(40);
  for (Index i = 0; i < 40; ++i) {
    problem.nodes.emplace_back(i);
    problem.kinds.push_back(Kind::other);
    problem.tilings.push_back(1);
    problem.bytes.push_back(1);
    std::vector<Read> reads;
    std::vector<Index> before, beside;
    if (i % 4 != 0) {
      reads.push_back({i - 1, i - 1});
      before.push_back(i - 1);
      beside.push_back(i - 1);
    }
    const std::vector<Index> after = i % 4 == 3 ? std::vector<Index>{} : std::vector<Index>{i + 1};
    beside.insert(beside.end(), after.begin(), after.end());
    problem.reads.add(reads);
    problem.before.add(before);
    problem.beside.add(beside);
    problem.readers.add(after);
    problem.after.add(after);
  }
  Rules rules;
  rules.limit = 3;
  const Candidates candidates = candidates_of(problem, rules, Reachability(problem));
  const std::vector<double> ones(candidates.sets.size(), 1.0);
  const Cover found = cover(problem, candidates, ones);
  EXPECT_EQ(found.cost, 20);  // ceil(4 / 3) each
  EXPECT_EQ(found.parts, 10U);
  EXPECT_EQ(found.solved, 1U);
  EXPECT_EQ(found.programs, 0U);
  CoverOptions options;
  options.repeat = options.dynamic = false;
  const Cover plain = cover(problem, candidates, ones, options);
  EXPECT_EQ(plain.cost, 20);
  EXPECT_EQ(plain.solved, 10U);
  EXPECT_EQ(plain.programs, 10U);
}

// 0 and 1 both go to 2 and 3: two pairs always wait for each other.
TEST(FusionRings, AreCutOff) {
  Problem problem;
  for (Index i = 0; i < 4; ++i) {
    problem.nodes.emplace_back(i);
    problem.kinds.push_back(Kind::other);
    problem.tilings.push_back(1);
    problem.bytes.push_back(1);
  }
  const std::vector<Index> none, sources{0, 1}, sinks{2, 3};
  const std::vector<Read> nothing, both{{0, 0}, {1, 1}};
  for (Index i = 0; i < 4; ++i) {
    const bool source = i < 2;
    problem.reads.add(source ? nothing : both);
    problem.before.add(source ? none : sources);
    problem.readers.add(source ? sinks : none);
    problem.after.add(source ? sinks : none);
    problem.beside.add(source ? sinks : sources);
  }
  Rules rules;
  rules.limit = 2;
  rules.leaving = 2;
  const Candidates candidates = candidates_of(problem, rules, Reachability(problem));
  EXPECT_EQ(candidates.sets.size(), 8U);
  const std::vector<double> ones(candidates.sets.size(), 1.0);
  for (const bool lift : {false, true}) {
    CoverOptions options;
    options.lift = lift;
    const Cover found = cover(problem, candidates, ones, options);
    EXPECT_EQ(found.cost, 3);
    EXPECT_TRUE(found.proven);
    EXPECT_GE(found.cuts, 1U);
  }
  const std::vector<std::uint32_t> crossed{0, 1, 0, 1};
  const auto rings = rings_among(problem, crossed, 2);
  ASSERT_EQ(rings.size(), 1U);
  EXPECT_EQ(rings.front().size(), 2U);
  const std::vector<std::uint32_t> halves{0, 0, 1, 1};
  EXPECT_TRUE(rings_among(problem, halves, 2).empty());
}

TEST(FusionParts, AStoppedSearchLeavesOperatorsSingle) {
  Random random(7);
  const Problem problem = random_fusion_problem(random, 12);
  const Candidates candidates = candidates_of(problem, {}, Reachability(problem));
  const std::vector<double> ones(candidates.sets.size(), 1.0);
  CoverOptions options;
  options.stop = [] { return true; };
  const Cover found = cover(problem, candidates, ones, options);
  EXPECT_EQ(found.chosen.size(), problem.size());
}

TEST(FusionCandidates, TooManyAreCutOffAndSaidSo) {
  Random random(11);
  Problem problem = random_fusion_problem(random, 12);
  while (problem.size() < 10) problem = random_fusion_problem(random, 12);
  Rules rules;
  rules.leaving = 6;
  rules.divisible_tilings = rules.weights_fit = false;
  rules.products = rules.convolutions_with_product = rules.convolutions = rules.transposed = 6;
  const Candidates candidates = candidates_of(problem, rules, Reachability(problem),
                                              {.per_operator = 3, .total = problem.size() + 5, .stop = {}});
  EXPECT_FALSE(candidates.complete);
  EXPECT_LE(candidates.sets.size(), problem.size() + 5);
}

}  // namespace
}  // namespace monet::fusion
