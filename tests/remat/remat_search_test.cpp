// Does the search find what is known to be best, the same for any number of threads, and stop when told?
#include "remat/bound.h"
#include "remat/remat_cases.h"
#include "remat/search.h"
#include "remat/solve.h"

#include <gtest/gtest.h>

#include <atomic>

namespace monet::remat {
namespace {

SearchResult find(const Problem& problem, const Goal& goal, const SearchOptions& options) {
  const Sequence start = first_runs(problem);
  return search(problem, goal, std::span(&start, 1), options);
}

std::int64_t share(const Problem& problem, double part) {
  return static_cast<std::int64_t>(std::ceil(part * static_cast<double>(base_peak_bytes(problem))));
}

struct Chain {
  NodeIndex layers;
  std::int64_t budget;
  double executions;
};

// Total executions of unit chains, proven by integer programming: the table beside the public instances.
constexpr Chain chains[] = {{8, 4, 26},  {8, 5, 22},  {8, 6, 21},  {8, 8, 19},  {12, 5, 37},
                            {12, 6, 33}, {12, 8, 31}, {16, 6, 47}, {16, 8, 43}, {20, 8, 55}};

TEST(RematSearch, UnitChainsAreBestAndProven) {
  for (const Chain& chain : chains) {
    const Problem problem = test::remat_chain(chain.layers);
    const Goal goal{.budget = chain.budget};
    const Solution solution = solve(problem, goal, {.jobs = 1, .time_limit_s = 600});
    ASSERT_TRUE(solution.given);
    EXPECT_EQ(solution.given->checked.fault, "");
    EXPECT_EQ(solution.given->checked.runs, chain.executions) << chain.layers << " " << chain.budget;
    EXPECT_TRUE(solution.proven) << chain.layers << " " << chain.budget;
  }
}

TEST(RematSearch, RunsANodeAsOftenAsItMust) {
  const Problem problem = test::remat_chain(8);
  const SearchResult result = find(problem, {.budget = 4}, {.jobs = 1});
  std::vector<int> runs(problem.size(), 0);
  for (const auto run : result.sequence) ++runs[run.node()];
  EXPECT_GE(*std::ranges::max_element(runs), 3);
}

TEST(RematSearch, SameForAnyNumberOfThreads) {
  const Problem problem = test::random_layered(5, 40, 0.3);
  const Goal goal{.budget = share(problem, 0.85)};
  const SearchResult one = find(problem, goal, {.seed = 3, .jobs = 1, .patience = 1});
  for (const std::size_t jobs : {2, 3, 8}) {
    const SearchResult several = find(problem, goal, {.seed = 3, .jobs = jobs, .patience = 1});
    EXPECT_EQ(several.sequence, one.sequence);
    EXPECT_EQ(several.rounds, one.rounds);
  }
}

TEST(RematSearch, FamiliesWithinTheirBounds) {
  std::vector<Problem> problems;
  for (std::uint32_t seed = 1; seed <= 2; ++seed) problems.push_back(test::random_layered(seed, 40, 0.3));
  problems.push_back(test::remat_unet(4));
  for (const Problem& problem : problems) {
    double before = 0;
    for (const double part : {1.0, 0.9, 0.8}) {
      const Goal goal{.budget = share(problem, part)};
      if (structural_minimum(problem).bytes > goal.budget) continue;
      const SearchResult result = find(problem, goal, {.jobs = 1, .patience = 2});
      ASSERT_TRUE(result.value.feasible()) << part;
      const Bound bound = lower_bound(problem, goal, {.known = result.value.price});
      EXPECT_LE(bound.price, result.value.price * (1 + 1e-9));
      EXPECT_GE(result.value.price, before);  // less memory is never cheaper
      if (part == 1.0) {
        EXPECT_EQ(result.value.price, base_time(problem));
      }
      before = result.value.price;
    }
  }
}

TEST(RematSearch, AnotherOrderIsNoWorse) {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    const Problem problem = test::random_layered(seed, 40, 0.3);
    const Goal goal{.budget = share(problem, 0.9)};
    if (structural_minimum(problem).bytes > goal.budget) continue;
    const SearchResult given = find(problem, goal, {.jobs = 1, .patience = 1});
    SearchOptions options{.jobs = 1, .patience = 1};
    options.moves.reorder = true;
    const SearchResult any = search(problem, goal, std::span(&given.sequence, 1), options);
    ASSERT_TRUE(given.value.feasible() && any.value.feasible());
    EXPECT_LE(any.value.price, given.value.price);
  }
}

// Steps that are independent may come in any order, and the tensors then need not be there at once.
TEST(RematSearch, AnotherOrderSavesARun) {
  // 0 and 1 (10 B each) are made first, then read by 2 and 3 alone. In that order neither is there any more when it is
  // read: 5 + 5 + (5 + 1) + (5 + 1) + 1.
  const Problem problem =
      test::remat_problem({{5, 10}, {5, 10}, {1, 1}, {1, 1}, {1, 1}}, {{0, 2}, {1, 3}, {2, 4}, {3, 4}});
  const Goal goal{.budget = 12};
  SolveOptions options{.jobs = 1};
  options.moves.reorder = true;
  const Solution solution = solve(problem, goal, options);
  ASSERT_TRUE(solution.given && solution.reordered);
  EXPECT_EQ(solution.given->value.price, 23);
  EXPECT_EQ(solution.reordered->value.price, 13);
  EXPECT_TRUE(solution.proven && solution.reordered_proven);
}

TEST(RematSearch, StopsWhenTold) {
  const Problem problem = test::random_layered(1, 100, 0.3);
  const Goal goal{.budget = share(problem, 0.8)};
  std::atomic<int> asked = 0;
  const SearchResult result = find(problem, goal, {.jobs = 2, .stop = [&] { return ++asked > 200; }});
  EXPECT_TRUE(result.stopped);
  const SolveOptions options{.jobs = 2, .stop = [&] { return ++asked > 1000; }};
  const Solution solution = solve(problem, goal, options);
  if (solution.given) {
    EXPECT_EQ(solution.given->checked.fault, "");
  }
}

TEST(RematSearch, TellsOfProgress) {
  const Problem problem = test::random_layered(2, 80, 0.3);
  const Goal goal{.budget = share(problem, 0.75)};
  std::vector<Value> values;
  const SearchResult result =
      find(problem, goal, {.jobs = 2, .patience = 4, .progress = [&](const Value& value) { values.push_back(value); }});
  ASSERT_FALSE(values.empty());
  EXPECT_TRUE(std::ranges::is_sorted(values, std::greater()));
  EXPECT_EQ(values.back(), result.value);
}

TEST(RematSearch, WhatCannotBeRecomputedIsPagedOrKept) {
  Problem problem = test::remat_chain(6);
  for (Node& node : problem.nodes) node.recomputable = false;
  EXPECT_FALSE(find(problem, {.budget = 5}, {.jobs = 1, .patience = 2}).value.feasible());
  problem.channel = test::remat_channel();
  problem.has_energy = true;
  const Goal goal{.budget = 5, .objective = Objective::energy};
  const Solution solution = solve(problem, goal, {.jobs = 1});
  ASSERT_TRUE(solution.given);
  EXPECT_EQ(solution.given->checked.fault, "");
  EXPECT_EQ(solution.given->checked.runs, problem.size());
  EXPECT_GT(solution.given->checked.page_ins, 0U);
}

TEST(RematSearch, SaysWhatWouldDo) {
  const Problem problem = test::remat_chain(6);
  const Goal little{.budget = 2};
  const Solution solution = solve(problem, little, {.jobs = 1});
  EXPECT_FALSE(solution.given);
  EXPECT_TRUE(solution.proven);
  // An operand, another, and the output: 3.
  EXPECT_EQ(solution.smallest_budget, 3);
  const Goal early{.budget = 4, .deadline = base_time(problem)};
  const Solution late = solve(problem, early, {.jobs = 1});
  EXPECT_FALSE(late.given);
  ASSERT_TRUE(late.shortest_time);
  const Goal enough{.budget = 4, .deadline = *late.shortest_time};
  EXPECT_TRUE(solve(problem, enough, {.jobs = 1}).given);
}

TEST(RematSearch, OneNodeAndNoLinks) {
  const Problem one = test::remat_problem({{1, 5}}, {});
  EXPECT_TRUE(solve(one, {.budget = 5}, {.jobs = 1}).proven);
  EXPECT_FALSE(solve(one, {.budget = 4}, {.jobs = 1}).given);
  const Problem apart = test::remat_problem({{1, 5}, {0, 0}, {2, 7}}, {});
  const Solution solution = solve(apart, {.budget = 7}, {.jobs = 1});
  ASSERT_TRUE(solution.given);
  EXPECT_EQ(solution.given->value.price, 3);
}

}  // namespace
}  // namespace monet::remat
