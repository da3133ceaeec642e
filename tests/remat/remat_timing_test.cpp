// Do transfers take their time: beside computation where they can, before it where they must, and is memory held
// meanwhile?
#include "remat/check.h"
#include "remat/remat_cases.h"
#include "remat/solve.h"
#include "remat/timing.h"

#include <gtest/gtest.h>

namespace monet::remat {
namespace {

using test::computed;
using test::paged;

struct Timed {
  double end = 0;
  Schedule schedule;
  CheckedSchedule checked;
};

Timed timed(const Problem& problem, const Sequence& sequence, std::int64_t budget) {
  Profile profile(problem);
  profile.evaluate(sequence);
  Timed result;
  result.end = Timing(problem).end_time(sequence, profile, budget, &result.schedule);
  result.checked = check_schedule(problem, result.schedule, {.budget = budget});
  return result;
}

// 0 (2 s, 8 B) is read by 1 and 4; 1 to 3 take 10 s each and 1 B. In: 0.25 s + 8 / 8; out: 0.5 s + 8 / 4.
Problem waiting(double time) {
  Problem problem =
      test::remat_problem({{2, 8}, {time, 1}, {time, 1}, {time, 1}, {1, 1}}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}});
  problem.channel = test::remat_channel();
  return problem;
}

TEST(RematTiming, HiddenBehindComputation) {
  const Problem problem = waiting(10);
  // Out from 2 to 4.5 while 1 runs, in from 22 to 23.25 while 3 runs: nobody waits.
  const Timed result = timed(problem, {computed(0), computed(1), computed(2), paged(0), computed(3), computed(4)}, 100);
  EXPECT_EQ(result.checked.fault, "");
  EXPECT_DOUBLE_EQ(result.end, base_time(problem));
  EXPECT_DOUBLE_EQ(result.checked.end_time, result.end);
}

TEST(RematTiming, WaitsForWhatComesLate) {
  const Problem problem = waiting(10);
  // In right before its use: from 32 to 33.25.
  const Timed result = timed(problem, {computed(0), computed(1), computed(2), computed(3), paged(0), computed(4)}, 100);
  EXPECT_EQ(result.checked.fault, "");
  EXPECT_DOUBLE_EQ(result.end, base_time(problem) + 1.25);
}

// Room for 10 bytes: with 0 (8 B) and 1 (here 2 B), 2 waits until the page-out of 0 has ended.
TEST(RematTiming, WaitsForRoomUntilAPageOutEnds) {
  Problem problem = waiting(1);
  problem.nodes[1].bytes = 2;
  const Timed result = timed(problem, {computed(0), computed(1), computed(2), computed(3), paged(0), computed(4)}, 10);
  EXPECT_EQ(result.checked.fault, "");
  // 0: 0 to 2, out 2 to 4.5; 1: 2 to 3; 2: 4.5 to 5.5; 3: 5.5 to 6.5; in 6.5 to 7.75; 4.
  EXPECT_DOUBLE_EQ(result.end, 8.75);
  EXPECT_EQ(result.checked.timed_peak_bytes, 10);
}

TEST(RematTiming, PrefetchMovesPageInsUp) {
  const Problem problem = waiting(10);
  Sequence sequence = {computed(0), computed(1), computed(2), computed(3), paged(0), computed(4)};
  Profile profile(problem);
  profile.evaluate(sequence);
  prefetch(sequence, profile, problem, 100);
  EXPECT_DOUBLE_EQ(timed(problem, sequence, 100).end, base_time(problem));
  // There is no room for it earlier.
  sequence = {computed(0), computed(1), computed(2), computed(3), paged(0), computed(4)};
  profile.evaluate(sequence);
  prefetch(sequence, profile, problem, 10 - 1);
  EXPECT_EQ(sequence[4], paged(0));
}

// Whatever the sequence, the schedule holds in the checker, and is no quicker than its computation.
TEST(RematTiming, RandomSchedulesHold) {
  std::mt19937 random(11);
  int paging = 0;
  for (int round = 0; round < 150; ++round) {
    const Problem problem = test::random_remat(random, 12, true);
    const std::int64_t least = structural_minimum(problem).bytes, most = base_peak_bytes(problem);
    const Goal goal{.budget = least + (most - least) / 3, .objective = Objective::energy};
    SearchOptions options{.seed = static_cast<std::uint64_t>(round), .seeds = 1, .jobs = 1, .patience = 1};
    const Sequence start = first_runs(problem);
    SearchResult result = search(problem, goal, std::span(&start, 1), options);
    if (!result.value.feasible()) continue;
    for (const bool early : {false, true}) {
      Profile profile(problem);
      profile.evaluate(result.sequence);
      if (early) prefetch(result.sequence, profile, problem, goal.budget);
      const Timed checked = timed(problem, result.sequence, goal.budget);
      ASSERT_EQ(checked.checked.fault, "") << "round " << round;
      EXPECT_GE(checked.end, checked.checked.compute_time - 1e-9);
      EXPECT_DOUBLE_EQ(checked.end, checked.checked.end_time);
      EXPECT_LE(checked.checked.timed_peak_bytes, goal.budget);
      paging += checked.checked.page_ins > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(paging, 20);
}

// A forward and backward chain on a slow channel, cheap in energy: POET's model pages, because that takes no time in
// it.
Problem slow_storage() {
  Problem problem = test::remat_chain(6);
  for (Node& node : problem.nodes) node.bytes = 8;
  problem.has_energy = true;
  problem.channel =
      Channel{.in_latency_s = 0.1, .in_bytes_per_s = 1, .out_latency_s = 0.1, .out_bytes_per_s = 1, .power_w = 0.01};
  return problem;
}

TEST(RematTiming, PoetsPlanMissesTheTrueDeadlineAndOursDoesNot) {
  const Problem problem = slow_storage();
  Goal goal{.budget = 40, .objective = Objective::energy, .deadline = 1.6 * base_time(problem)};
  goal.transfers_take_time = false;
  // POET's own formulation, solved to its optimum, and our search on its model.
  for (const Method method : {Method::milp, Method::search}) {
    const Solution poet = solve(problem, goal, {.method = method, .jobs = 1, .time_limit_s = 600});
    ASSERT_TRUE(poet.given);
    EXPECT_EQ(poet.given->checked.fault, "");
    EXPECT_LE(poet.given->checked.compute_time, *goal.deadline);
    EXPECT_GT(poet.given->checked.page_ins, 0U);
    EXPECT_GT(poet.given->checked.end_time, *goal.deadline);
  }
  goal.transfers_take_time = true;
  const Solution ours = solve(problem, goal, {.jobs = 1, .time_limit_s = 600});
  ASSERT_TRUE(ours.given);
  EXPECT_EQ(ours.given->checked.fault, "");
  EXPECT_LE(ours.given->checked.end_time, *goal.deadline * (1 + 1e-9));
}

// Time as the objective, with a channel that is quick enough to be hidden: nothing is lost.
TEST(RematTiming, HiddenPagingCostsNoTime) {
  Problem problem = test::remat_chain(6);
  for (Node& node : problem.nodes) node.bytes = 8;
  problem.channel = Channel{.in_latency_s = 0, .in_bytes_per_s = 80, .out_latency_s = 0, .out_bytes_per_s = 80};
  const Goal goal{.budget = 48};
  const Solution solution = solve(problem, goal, {.jobs = 1, .time_limit_s = 600});
  ASSERT_TRUE(solution.given);
  EXPECT_NEAR(solution.given->checked.end_time, base_time(problem), 1e-9);
  EXPECT_TRUE(solution.proven);
}

}  // namespace
}  // namespace monet::remat
