// Do the exact search, the bounds, the integer program and the whole of it agree with trying everything?
#include "remat/bound.h"
#include "remat/exact.h"
#include "remat/milp.h"
#include "remat/remat_brute_force.h"
#include "remat/remat_cases.h"
#include "remat/solve.h"
#include "remat/stage_bound.h"

#include <gtest/gtest.h>

namespace monet::remat {
namespace {

using test::brute_force;
using test::random_remat;

constexpr double infinite = std::numeric_limits<double>::infinity();

struct RematCase {
  Problem problem;
  Goal goal;
  test::BruteForceRules rules;
  Moves moves;
  double best = 0;  // by brute force; infinite: nothing fits
  std::string name;
};

RematCase random_case(std::uint32_t seed, NodeIndex nodes, bool reorder) {
  std::mt19937 random(seed);
  const bool channel = seed % 2 == 0;
  RematCase result{.problem = random_remat(random, nodes, channel)};
  const std::int64_t least = structural_minimum(result.problem).bytes, most = base_peak_bytes(result.problem);
  result.goal.budget = least + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most - least + 1));
  result.goal.objective = seed % 3 == 0 && !channel ? Objective::time : Objective::energy;
  result.goal.transfers_take_time = false;
  result.moves.recompute = seed % 7 != 0;
  result.moves.page = seed % 5 != 0;
  if (seed % 4 == 0) result.goal.deadline = base_time(result.problem) * (1 + 0.1 * static_cast<double>(random() % 10));
  result.rules = {.budget = result.goal.budget,
                  .energy = result.goal.objective == Objective::energy,
                  .given_order = !reorder,
                  .recompute = result.moves.recompute,
                  .page = result.moves.page,
                  .deadline = result.goal.deadline};
  result.best = brute_force(result.problem, result.rules).value_or(infinite);
  result.name = "seed " + std::to_string(seed);
  return result;
}

Prices prices_for(const RematCase& example) {
  return example.rules.energy ? prices_of(example.problem, {.energy = 1}) : prices_of(example.problem, {.time = 1});
}

TEST(RematExact, IsBruteForce) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    RematCase example = random_case(seed, 6, false);
    example.rules.deadline.reset();
    const double best = brute_force(example.problem, example.rules).value_or(infinite);
    const ExactResult result =
        solve_exactly(example.problem, prices_for(example), example.goal.budget, {.moves = example.moves});
    ASSERT_TRUE(result.complete) << example.name;
    ASSERT_EQ(result.sequence.has_value(), best < infinite) << example.name;
    if (!result.sequence) continue;
    EXPECT_NEAR(result.bound, best, 1e-9) << example.name;
    EXPECT_NEAR(total_price(*result.sequence, prices_for(example)), best, 1e-9) << example.name;
    Profile profile(example.problem);
    profile.evaluate(*result.sequence);
    EXPECT_LE(profile.peak(), example.goal.budget) << example.name;
  }
}

TEST(RematExact, NothingCheaperThanTheBestIsAProof) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    RematCase example = random_case(seed, 6, false);
    example.rules.deadline.reset();
    const auto best = brute_force(example.problem, example.rules);
    if (!best) continue;
    const ExactResult result = solve_exactly(example.problem, prices_for(example), example.goal.budget,
                                             {.moves = example.moves, .below = *best});
    EXPECT_TRUE(result.complete && !result.sequence) << example.name;
    EXPECT_NEAR(result.bound, *best, 1e-9) << example.name;
  }
}

TEST(RematExact, GivenUpItStillBounds) {
  const Problem chain = test::remat_chain(8);
  const Prices prices = prices_of(chain, {.time = 1});
  const ExactResult result = solve_exactly(chain, prices, 4, {.most_states = 5});
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(result.sequence);
  EXPECT_GT(result.bound, 17);
  EXPECT_LE(result.bound, 26);
  const ExactResult stopped = solve_exactly(chain, prices, 4, {.stop = [] { return true; }});
  EXPECT_FALSE(stopped.complete);
}

TEST(RematBound, IsNeverAboveTheBest) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const RematCase example = random_case(seed, 6, false);
    const double stages =
        stage_bound(example.problem, prices_for(example), example.goal.budget, {.moves = example.moves}).bound;
    EXPECT_LE(stages, example.best + 1e-6) << example.name;
    const Bound bound = lower_bound(example.problem, example.goal, {.moves = example.moves});
    EXPECT_LE(bound.price, example.best + 1e-6) << example.name;
    if (example.goal.deadline || example.best == infinite) continue;
    EXPECT_NEAR(bound.price, example.best, 1e-6) << example.name;
  }
}

// POET's stages are narrower than sequences, so its optimum is no lower; without paging it is the same in nearly all.
TEST(RematMilp, IsNotBelowBruteForceAndHoldsInTheChecker) {
  int same = 0, all = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const RematCase example = random_case(seed, 5, false);
    const MilpResult result = solve_milp(example.problem, example.goal, {.moves = example.moves});
    if (!result.sequence) {
      EXPECT_EQ(result.bound, infinite) << example.name;
      continue;
    }
    EXPECT_TRUE(result.proven) << example.name;
    EXPECT_GE(result.bound, example.best - 1e-6) << example.name;
    ++all;
    same += result.bound <= example.best + 1e-6 ? 1 : 0;
    SolveOptions options{.method = Method::milp, .moves = example.moves};
    const Solution solution = solve(example.problem, example.goal, options);
    ASSERT_TRUE(solution.given) << example.name;
    EXPECT_EQ(solution.given->checked.fault, "") << example.name;
    EXPECT_LE(solution.given->value.price, result.bound + 1e-6) << example.name;
  }
  EXPECT_GT(same, all / 2);
}

// From the source of POET's formulation: unit chains, proven there.
TEST(RematMilp, UnitChain) {
  const Problem chain = test::remat_chain(5);
  const Goal goal{.budget = 4};
  const MilpResult result = solve_milp(chain, goal, {});
  ASSERT_TRUE(result.proven);
  const ExactResult exact = solve_exactly(chain, prices_of(chain, {.time = 1}), 4, {});
  EXPECT_NEAR(result.bound, exact.bound, 1e-6);
}

void expect_brute_force(bool reorder) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const RematCase example = random_case(seed, reorder ? 5 : 6, reorder);
    SolveOptions options{.moves = example.moves, .jobs = 1, .time_limit_s = 600};
    options.moves.reorder = reorder;
    const Solution solution = solve(example.problem, example.goal, options);
    const auto& answer = reorder ? solution.reordered : solution.given;
    ASSERT_EQ(answer.has_value(), example.best < infinite) << example.name;
    if (!answer) continue;
    EXPECT_EQ(answer->checked.fault, "") << example.name;
    EXPECT_NEAR(answer->value.price, example.best, 1e-6) << example.name;
    if (!reorder && !example.goal.deadline) {
      EXPECT_TRUE(solution.proven) << example.name;
    }
  }
}

TEST(RematSolve, IsBruteForceInTheGivenOrder) { expect_brute_force(false); }
TEST(RematSolve, IsBruteForceInAnyOrder) { expect_brute_force(true); }

// Techniques change how, never what is claimed: every combination gives a schedule that holds, no better than the best;
// with the bound, the best itself where that is claimed.
TEST(RematSolve, EveryCombinationOfTechniques) {
  for (std::uint32_t seed = 1; seed < 13; ++seed) {
    RematCase example = random_case(seed, 5, false);
    example.goal.deadline.reset();
    for (int bits = 0; bits < 32; ++bits) {
      const auto on = [&](int bit) { return (bits >> bit & 1) != 0; };
      Moves moves{.recompute = on(0), .page = on(1), .prune = on(2), .improve = on(3)};
      test::BruteForceRules rules = example.rules;
      rules.deadline.reset();
      rules.recompute = moves.recompute;
      rules.page = moves.page;
      SolveOptions options{.moves = moves, .bound = on(4), .jobs = 1, .time_limit_s = 600};
      const Solution solution = solve(example.problem, example.goal, options);
      const double best = brute_force(example.problem, rules).value_or(infinite);
      if (!solution.given) continue;
      EXPECT_EQ(solution.given->checked.fault, "") << example.name << " " << bits;
      EXPECT_GE(solution.given->value.price, best - 1e-9) << example.name << " " << bits;
      if (solution.proven) {
        EXPECT_NEAR(solution.given->value.price, best, 1e-6) << example.name << " " << bits;
      }
    }
  }
}

}  // namespace
}  // namespace monet::remat
