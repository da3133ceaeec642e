// Are linear and integer programs solved, silently, within their time, without taking Ctrl-C away?
#include "solvers/program.h"
#include "base/stopwatch.h"
#include "solvers/cbc.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <random>
#include <thread>

namespace monet {
namespace {

using Terms = std::vector<Program::Term>;

// Values 60, 100, 120 and weights 10, 20, 30 into 50: the textbook's answer is 220.
Program knapsack() {
  Program program;
  Terms weights;
  for (const auto& [value, weight] : {std::pair(60, 10), std::pair(100, 20), std::pair(120, 30)})
    weights.push_back({program.add_binary(-value), static_cast<double>(weight)});
  program.add_row(weights, -Program::infinity, 50);
  return program;
}

TEST(Program, Knapsack) {
  const Program program = knapsack();
  EXPECT_EQ(program.variables(), 3U);
  EXPECT_EQ(program.rows(), 1U);
  const ProgramSolution solution = solve(program);
  EXPECT_EQ(solution.status, ProgramStatus::optimal);
  EXPECT_DOUBLE_EQ(solution.cost, -220);
  EXPECT_DOUBLE_EQ(solution.bound, -220);
  EXPECT_EQ(solution.values, (std::vector<double>{0, 1, 1}));
}

TEST(Program, RelaxationTakesAFraction) {
  const ProgramSolution solution = solve(knapsack(), {.relax = true, .start = {}});
  EXPECT_EQ(solution.status, ProgramStatus::optimal);
  EXPECT_NEAR(solution.cost, -240, 1e-6);  // 60 + 100 + 2/3 of 120
  ASSERT_EQ(solution.values.size(), 3U);
  EXPECT_NEAR(solution.values[2], 2.0 / 3, 1e-6);
}

TEST(Program, Infeasible) {
  Program program;
  const int x = program.add_binary(1), y = program.add_binary(1);
  program.add_row(Terms{{x, 1}, {y, 1}}, 3, Program::infinity);
  for (const bool relax : {false, true}) {
    const ProgramSolution solution = solve(program, {.relax = relax, .start = {}});
    EXPECT_EQ(solution.status, ProgramStatus::infeasible);
    EXPECT_TRUE(solution.values.empty());
  }
}

// 2x = 1 has a solution, but not in whole numbers.
TEST(Program, InfeasibleInIntegersOnly) {
  Program program;
  const int x = program.add_variable(0, 5, 1, true);
  program.add_row(Terms{{x, 2}}, 1, 1);
  EXPECT_EQ(solve(program).status, ProgramStatus::infeasible);
  EXPECT_EQ(solve(program, {.relax = true, .start = {}}).status, ProgramStatus::optimal);
}

TEST(Program, Empty) {
  EXPECT_EQ(solve(Program()).status, ProgramStatus::optimal);
  Program free;
  free.add_variable(-2, 3, 1, true);
  free.add_variable(-2, 3, -1, false);
  const ProgramSolution solution = solve(free);
  EXPECT_EQ(solution.status, ProgramStatus::optimal);
  EXPECT_DOUBLE_EQ(solution.cost, -5);
}

TEST(Program, AStartIsNoWorseThanTheAnswer) {
  const ProgramSolution solution = solve(knapsack(), {.start = {1, 1, 0}});
  EXPECT_EQ(solution.status, ProgramStatus::optimal);
  EXPECT_DOUBLE_EQ(solution.cost, -220);
}

// The smallest difference counts: CBC by itself would stop at one part in ten thousand.
TEST(Program, ToTheLastBit) {
  Program program;
  const int x = program.add_binary(1e6), y = program.add_binary(1e6 - 1);
  program.add_row(Terms{{x, 1}, {y, 1}}, 1, Program::infinity);
  const ProgramSolution solution = solve(program);
  EXPECT_DOUBLE_EQ(solution.cost, 1e6 - 1);
}

TEST(Program, SmallOnesAgainstBruteForce) {
  std::mt19937 random(7);
  const auto between = [&](int from, int to) {
    return from + static_cast<int>(random() % static_cast<unsigned>(to - from + 1));
  };
  for (int round = 0; round < 200; ++round) {
    const int variables = between(1, 8), rows = between(0, 5);
    Program program;
    std::vector<double> costs;
    for (int i = 0; i < variables; ++i) {
      costs.push_back(between(-9, 9));
      program.add_binary(costs.back());
    }
    struct Limits {
      std::vector<double> factors;
      double lower, upper;
    };
    std::vector<Limits> limits;
    for (int row = 0; row < rows; ++row) {
      Limits limit{
          .factors = {}, .lower = static_cast<double>(between(-6, 2)), .upper = static_cast<double>(between(0, 9))};
      if (between(0, 2) == 0) limit.lower = -Program::infinity;
      if (limit.lower > limit.upper) limit.upper = limit.lower;
      Terms terms;
      for (int i = 0; i < variables; ++i) {
        limit.factors.push_back(between(-4, 4));
        if (limit.factors.back() != 0) terms.push_back({i, limit.factors.back()});
      }
      program.add_row(terms, limit.lower, limit.upper);
      limits.push_back(limit);
    }
    double best = Program::infinity;
    for (int chosen = 0; chosen < 1 << variables; ++chosen) {
      const auto on = [&](int i) { return (chosen >> i & 1) != 0; };
      double cost = 0;
      bool holds = true;
      for (int i = 0; i < variables; ++i) cost += on(i) ? costs[static_cast<std::size_t>(i)] : 0;
      for (const Limits& limit : limits) {
        double sum = 0;
        for (int i = 0; i < variables; ++i) sum += on(i) ? limit.factors[static_cast<std::size_t>(i)] : 0;
        holds = holds && sum >= limit.lower && sum <= limit.upper;
      }
      if (holds) best = std::min(best, cost);
    }
    const ProgramSolution solution = solve(program);
    if (best == Program::infinity) {
      EXPECT_EQ(solution.status, ProgramStatus::infeasible) << "round " << round;
      continue;
    }
    ASSERT_EQ(solution.status, ProgramStatus::optimal) << "round " << round;
    EXPECT_NEAR(solution.cost, best, 1e-6) << "round " << round;
    const ProgramSolution relaxed = solve(program, {.relax = true, .start = {}});
    EXPECT_EQ(relaxed.status, ProgramStatus::optimal) << "round " << round;
    EXPECT_LE(relaxed.cost, best + 1e-6) << "round " << round;
  }
}

// Market splitting: small, and far beyond what can be solved to the end.
Program hard_program() {
  std::mt19937 random(1);
  Program program;
  std::vector<Terms> rows(5);
  std::vector<double> sums(5, 0);
  for (int i = 0; i < 40; ++i) {
    const int x = program.add_binary(0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const double factor = static_cast<double>(random() % 100);
      rows[row].push_back({x, factor});
      sums[row] += factor;
    }
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const int over = program.add_variable(0, Program::infinity, 1, false);
    const int under = program.add_variable(0, Program::infinity, 1, false);
    rows[row].push_back({over, -1});
    rows[row].push_back({under, 1});
    program.add_row(rows[row], std::floor(sums[row] / 2), std::floor(sums[row] / 2));
  }
  return program;
}

TEST(Program, StopsWhenTimeIsUpWithWhatItHas) {
  const ProgramSolution solution = solve(hard_program(), {.time_limit_s = 1, .start = {}});
  EXPECT_EQ(solution.status, ProgramStatus::feasible);
  EXPECT_FALSE(solution.values.empty());
  EXPECT_LE(solution.bound, solution.cost);
}

// The limit is an hour, and what it has until then is the answer.
TEST(Program, StopsWhenItIsAskedTo) {
  std::atomic<bool> stop = false;
  const std::jthread asks([&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    stop = true;
  });
  const auto start = std::chrono::steady_clock::now();
  const ProgramSolution solution =
      solve(hard_program(), {.time_limit_s = 3600, .start = {}, .stop = [&] { return stop.load(); }});
  EXPECT_LT(seconds_since(start), 20);
  EXPECT_EQ(solution.status, ProgramStatus::feasible);
  EXPECT_TRUE(hard_program().allows(solution.values));
  EXPECT_LE(solution.bound, solution.cost);
}

TEST(Program, AskedToStopAtOnceItHasNothing) {
  const ProgramSolution solution = solve(hard_program(), {.start = {}, .stop = [] { return true; }});
  EXPECT_EQ(solution.status, ProgramStatus::unknown);
  EXPECT_TRUE(solution.values.empty());
}

// CBC tells of solutions of a program that it has made smaller.
TEST(Program, WhatItTellsOnTheWayIsASolution) {
  std::mt19937 random(3);
  std::size_t told = 0;
  for (int round = 0; round < 12; ++round) {
    Program program;
    for (int i = 0; i < 30; ++i) program.add_binary(-static_cast<double>(random() % 50));
    for (int row = 0; row < 10; ++row) {
      Terms terms;
      for (int i = 0; i < 30; ++i) {
        if (random() % 3 == 0) terms.push_back({i, static_cast<double>(1 + random() % 20)});
      }
      program.add_row(terms, -Program::infinity, 40);
    }
    ProgramSolution last;
    const ProgramSolution whole = solve_by_cbc(program, {.start = {}}, [&](const ProgramSolution& solution) {
      EXPECT_LE(solution.bound, solution.status == ProgramStatus::feasible ? solution.cost : Program::infinity);
      EXPECT_GE(solution.bound, last.bound);
      EXPECT_EQ(solution.status == ProgramStatus::feasible,
                !solution.values.empty() && program.allows(solution.values));
      last = solution;
    });
    ASSERT_EQ(whole.status, ProgramStatus::optimal);
    EXPECT_LE(last.bound, whole.cost + 1e-6) << "round " << round;
    if (last.status != ProgramStatus::feasible) continue;
    ++told;
    EXPECT_NEAR(last.cost, whole.cost, 1e-6) << "round " << round;
  }
  EXPECT_GT(told, 6U);
}

TEST(Program, AllowsWhatKeepsToAllLimits) {
  const Program program = knapsack();
  EXPECT_TRUE(program.allows(std::vector<double>{0, 1, 1}));
  EXPECT_FALSE(program.allows(std::vector<double>{1, 1, 1}));    // the row
  EXPECT_FALSE(program.allows(std::vector<double>{2, 0, 0}));    // a variable
  EXPECT_FALSE(program.allows(std::vector<double>{0.5, 0, 0}));  // not whole
}

TEST(Program, PrintsNothing) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  solve(knapsack());
  solve(knapsack(), {.relax = true, .start = {}});
  solve(knapsack(), {.start = {1, 1, 0}});
  solve(knapsack(), {.start = {1, 1, 1}});  // no solution
  solve(hard_program(), {.time_limit_s = 0.1, .start = {}});
  Program infeasible;
  infeasible.add_row(Terms{{infeasible.add_binary(1), 1}}, 2, 3);
  solve(infeasible);
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

void on_interrupt(int) {}

TEST(Program, LeavesCtrlCAlone) {
  const auto before = std::signal(SIGINT, on_interrupt);
  solve(knapsack());
  solve(hard_program(), {.time_limit_s = 0.1, .start = {}});
  EXPECT_EQ(std::signal(SIGINT, before), on_interrupt);
}

TEST(Program, FromSeveralThreads) {
  std::vector<double> costs(4);
  {
    std::vector<std::jthread> threads;
    for (double& cost : costs) threads.emplace_back([&cost] { cost = solve(knapsack()).cost; });
  }
  EXPECT_EQ(costs, std::vector<double>(4, -220));
}

}  // namespace
}  // namespace monet
