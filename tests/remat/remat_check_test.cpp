// Does the checker see every broken rule, and count what holds?
#include "remat/check.h"
#include "remat/remat_cases.h"

#include <gtest/gtest.h>

namespace monet::remat {
namespace {

using enum ActionKind;

// 0 -> 1 -> 2, and 0 -> 2. Times 2, 3, 4; bytes 8, 4, 2. In: 0.25 s + b / 8 B/s; out: 0.5 s + b / 4 B/s; 1 W.
Problem small(bool channel = true) {
  Problem problem = test::remat_problem({{2, 8}, {3, 4}, {4, 2}}, {{0, 1}, {1, 2}, {0, 2}});
  if (channel) problem.channel = test::remat_channel();
  return problem;
}

// 0 is paged out after its run (2 to 4.5) and in again (5 to 6.25), 1 runs meanwhile.
Schedule paged_schedule() {
  return {{compute, 0, 0}, {page_out, 0, 2},   {compute, 1, 2},  {free, 0, 5},
          {page_in, 0, 5}, {compute, 2, 6.25}, {free, 0, 10.25}, {free, 1, 10.25}};
}

void expect_fault(const Schedule& schedule, const std::string& words, std::int64_t budget = 100,
                  const Problem& problem = small()) {
  const CheckedSchedule checked = check_schedule(problem, schedule, {.budget = budget});
  EXPECT_NE(checked.fault.find(words), std::string::npos) << "'" << checked.fault << "' lacks '" << words << "'";
}

TEST(RematCheck, CountsTimeEnergyAndMemory) {
  const CheckedSchedule checked = check_schedule(small(), paged_schedule(), {.budget = 14});
  EXPECT_EQ(checked.fault, "");
  EXPECT_DOUBLE_EQ(checked.compute_time, 9);
  EXPECT_DOUBLE_EQ(checked.energy_j, 9 + 2.5 + 1.25);  // energies are as times here
  EXPECT_DOUBLE_EQ(checked.end_time, 10.25);
  EXPECT_EQ(checked.peak_bytes, 14);
  EXPECT_EQ(checked.timed_peak_bytes, 14);
  EXPECT_EQ(checked.runs, 3U);
  EXPECT_EQ(checked.page_outs, 1U);
  EXPECT_EQ(checked.page_ins, 1U);
}

// By order alone 0 is gone when 1 is computed a second time; by the clock its page-out is not.
TEST(RematCheck, MemoryIsHeldWhileATransferIsUnderWay) {
  Problem problem = test::remat_problem({{1, 8}, {1, 1}, {1, 8}}, {{0, 1}, {1, 2}});
  problem.channel = test::remat_channel();
  const Schedule early = {{compute, 0, 0}, {page_out, 0, 1}, {compute, 1, 1}, {free, 0, 3.5}, {compute, 2, 2}};
  const CheckedSchedule checked = check_schedule(problem, early, {.budget = 9});
  EXPECT_EQ(checked.fault, "at time 2, 17 bytes are in use, 8 over the budget");
  EXPECT_EQ(checked.peak_bytes, 9);
  Schedule late = early;
  late[4].start = 3.5;
  EXPECT_EQ(check_schedule(problem, late, {.budget = 9}).fault, "");
}

TEST(RematCheck, SeesEveryBrokenRule) {
  EXPECT_EQ(check_schedule(small(), paged_schedule(), {.budget = 13}).fault,
            "action 5 on 'n2' (2): 14 bytes are in use, 1 over the budget");
  expect_fault({{compute, 0, 0}, {compute, 1, 2}}, "'n2' (2) is never run");
  expect_fault({{compute, 0, 0}, {compute, 1, 1}}, "the processor is busy");
  expect_fault({{compute, 0, 0}, {free, 0, 2}, {compute, 1, 2}}, "its operand 'n0' (0) is not in memory");
  expect_fault({{compute, 0, 0}, {compute, 0, 2}}, "it is in memory already");
  expect_fault({{compute, 0, 0}, {free, 0, 1}}, "it is still in use");
  expect_fault({{free, 0, 0}}, "it is not in memory");
  expect_fault({{page_out, 0, 0}}, "it is not in memory");
  expect_fault({{compute, 0, 0}, {page_out, 0, 1}}, "it is not complete");
  expect_fault({{compute, 0, 0}, {free, 0, 2}, {page_in, 0, 2}}, "there is no copy in storage");
  expect_fault({{compute, 0, 0}, {page_out, 0, 2}, {compute, 1, 2}, {page_out, 1, 4}}, "it is not complete");
  expect_fault({{compute, 0, 0}, {compute, 1, 2}, {page_out, 0, 5}, {page_out, 1, 6}}, "the channel is busy");
  expect_fault({{compute, 9, 0}}, "there is no node 9");
  expect_fault({{compute, 0, -1}}, "its time is none");
  expect_fault({{compute, 0, 0}, {page_out, 0, 2}}, "there is no channel", 100, small(false));
  Schedule soon = paged_schedule();
  soon[5].start = 6;
  expect_fault(soon, "its operand 'n0' (0) is not complete");
  soon = paged_schedule();
  soon[3].start = 4;  // while 1 reads it
  expect_fault(soon, "it is still in use");
  Schedule unready = {{compute, 0, 0}, {page_out, 0, 2}, {compute, 1, 2}, {free, 0, 5}, {page_in, 0, 4}};
  expect_fault(unready, "its copy is not complete");
}

TEST(RematCheck, OrderAndRecomputation) {
  Problem problem = test::remat_problem({{1, 1}, {1, 1}, {1, 1}}, {{0, 2}, {1, 2}});
  const Schedule swapped = {{compute, 1, 0}, {compute, 0, 1}, {compute, 2, 2}};
  EXPECT_NE(check_schedule(problem, swapped, {.budget = 9}).fault.find("out of order"), std::string::npos);
  EXPECT_EQ(check_schedule(problem, swapped, {.budget = 9, .given_order = false}).fault, "");
  const Schedule twice = {{compute, 0, 0}, {free, 0, 1}, {compute, 0, 1}, {compute, 1, 2}, {compute, 2, 3}};
  EXPECT_EQ(check_schedule(problem, twice, {.budget = 9}).fault, "");
  problem.nodes[0].recomputable = false;
  EXPECT_NE(check_schedule(problem, twice, {.budget = 9}).fault.find("cannot be recomputed"), std::string::npos);
}

TEST(RematCheck, FixedBytesCount) {
  Problem problem = test::remat_problem({{1, 4}}, {});
  problem.fixed_bytes = 10;
  EXPECT_EQ(check_schedule(problem, {{compute, 0, 0}}, {.budget = 14}).peak_bytes, 14);
  EXPECT_NE(check_schedule(problem, {{compute, 0, 0}}, {.budget = 13}).fault, "");
}

}  // namespace
}  // namespace monet::remat
