// Are lifetimes and memory of a sequence what a plain simulation says, and do repair and prune keep what they promise?
#include "remat/prune.h"
#include "remat/remat_cases.h"
#include "remat/repair.h"

#include <gtest/gtest.h>

namespace monet::remat {
namespace {

using test::computed;
using test::paged;

Sequence random_sequence(const Problem& problem, std::mt19937& random) {
  Sequence sequence = first_runs(problem);
  for (int i = 0; i < 6; ++i) {
    const std::size_t at = random() % (sequence.size() + 1);
    const auto node = static_cast<NodeIndex>(random() % problem.size());
    const auto made = std::ranges::find(sequence, Run(node));
    if (made - sequence.begin() < static_cast<std::ptrdiff_t>(at))
      sequence.insert(sequence.begin() + static_cast<std::ptrdiff_t>(at),
                      Run(node, problem.channel && random() % 2 == 0));
  }
  return sequence;
}

// Row by row, looking ahead for every tensor.
std::int64_t naive_bytes(const Problem& problem, const Sequence& sequence, std::size_t row) {
  std::int64_t bytes = problem.fixed_bytes;
  for (NodeIndex node = 0; node < problem.size(); ++node) {
    std::ptrdiff_t made = -1;
    for (std::size_t i = 0; i <= row; ++i)
      if (sequence[i].node() == node) made = static_cast<std::ptrdiff_t>(i);
    if (made < 0) continue;
    bool live = made == static_cast<std::ptrdiff_t>(row);
    for (std::size_t i = row; i < sequence.size(); ++i) {
      if (i > row && sequence[i].node() == node) break;
      const auto operands = problem.operands.of(sequence[i].node());
      live |= !sequence[i].paged() && std::ranges::find(operands, node) != operands.end() &&
              made < static_cast<std::ptrdiff_t>(i);
    }
    if (live) bytes += problem.nodes[node].bytes;
  }
  return bytes;
}

TEST(RematSequence, MemoryIsThatOfASimulation) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const Problem problem = test::random_remat(random, 8, round % 2 == 0);
    const Sequence sequence = random_sequence(problem, random);
    Profile profile(problem);
    profile.evaluate(sequence);
    std::int64_t peak = problem.fixed_bytes;
    for (std::size_t row = 0; row < sequence.size(); ++row) {
      const std::int64_t bytes = naive_bytes(problem, sequence, row);
      ASSERT_EQ(profile.bytes(static_cast<Row>(row)), bytes) << "round " << round << ", row " << row;
      peak = std::max(peak, bytes);
    }
    EXPECT_EQ(profile.peak(), peak);
  }
}

TEST(RematSequence, FirstRunsHaveThePeakOfTheGivenOrder) {
  std::mt19937 random(4);
  for (int round = 0; round < 50; ++round) {
    const Problem problem = test::random_remat(random, 12, false);
    Profile profile(problem);
    profile.evaluate(first_runs(problem));
    EXPECT_EQ(profile.peak(), base_peak_bytes(problem));
  }
}

// 0 is read by 1 and 3; 2 reads 1. Dropping 0 after 1 and running it again before 3.
TEST(RematSequence, UsesAndRuns) {
  const Problem problem = test::remat_problem({{1, 4}, {1, 2}, {1, 2}, {1, 1}}, {{0, 1}, {1, 2}, {0, 3}, {2, 3}});
  Profile profile(problem);
  profile.evaluate(Sequence{computed(0), computed(1), computed(2), computed(0), computed(3)});
  EXPECT_EQ(profile.end(0), 1);
  EXPECT_EQ(profile.end(3), 4);
  EXPECT_TRUE(profile.first(0));
  EXPECT_FALSE(profile.first(3));
  EXPECT_EQ(profile.previous(3), 0);
  EXPECT_EQ(profile.bytes(2), 4);
  EXPECT_EQ(profile.peak(), 7);
  EXPECT_EQ(profile.peak_row(), 4);
  EXPECT_EQ(profile.latest(0, 3), 0);
  EXPECT_EQ(profile.latest(0, 4), 3);
  EXPECT_EQ(profile.next_use(0, 0), 1);
  EXPECT_EQ(profile.last_use_before(0, 3), 1);
}

TEST(RematSequence, PricesCountAPageOutOnce) {
  Problem problem = test::remat_problem({{3, 8}, {5, 0}}, {{0, 1}});
  problem.channel = test::remat_channel(2);
  const Prices prices = prices_of(problem, {.energy = 1});
  // In: 2 W · (0.25 s + 8 B / 8 B/s); out: 2 W · (0.5 s + 8 B / 4 B/s).
  EXPECT_DOUBLE_EQ(total_price({computed(0), paged(0), paged(0), computed(1)}, prices), 3 + 5 + 2 * 2.5 + 5);
}

TEST(RematSequence, PagesAreWhole) {
  Channel channel = test::remat_channel();
  channel.page_bytes = 512;
  EXPECT_DOUBLE_EQ(channel.in_s(513), 0.25 + 1024.0 / 8);
  EXPECT_DOUBLE_EQ(channel.out_s(512), 0.5 + 512.0 / 4);
  EXPECT_DOUBLE_EQ(channel.in_s(0), 0.25);
}

TEST(RematRepair, KeepsTheGivenOrderAndTheBudget) {
  std::mt19937 random(5);
  int repaired = 0;
  for (int round = 0; round < 200; ++round) {
    const Problem problem = test::random_remat(random, 12, round % 3 == 0);
    const std::int64_t least = structural_minimum(problem).bytes, most = base_peak_bytes(problem);
    const std::int64_t budget = (least + most) / 2;
    const Prices prices = prices_of(problem, {.energy = 1});
    Repair repair(problem, budget, {});
    Profile profile(problem);
    Sequence sequence = first_runs(problem);
    SeededRandom noise(static_cast<std::uint64_t>(round));
    const bool fits = repair.run(sequence, profile, prices, noise, 0.1 * (round % 10), [] { return false; });
    NodeIndex next = 0;
    for (Row row = 0; row < profile.rows(); ++row) {
      if (profile.first(row)) {
        EXPECT_EQ(sequence[static_cast<std::size_t>(row)], computed(next++));
      }
    }
    EXPECT_EQ(next, problem.size());
    EXPECT_EQ(profile.peak() <= budget, fits);
    if (!fits) continue;
    ++repaired;
    const double before = total_price(sequence, prices);
    prune(sequence, profile, prices, budget, problem, false, [] { return false; });
    EXPECT_LE(profile.peak(), budget);
    EXPECT_LE(total_price(sequence, prices), before);
    Profile again(problem);
    again.evaluate(sequence);
    EXPECT_EQ(again.peak(), profile.peak());
  }
  EXPECT_GT(repaired, 100);
}

TEST(RematRepair, StopsWhenTold) {
  const Problem problem = test::remat_chain(8);
  Repair repair(problem, 4, {});
  Profile profile(problem);
  Sequence sequence = first_runs(problem);
  SeededRandom random(0);
  EXPECT_FALSE(repair.run(sequence, profile, prices_of(problem, {.time = 1}), random, 0, [] { return true; }));
  EXPECT_EQ(sequence.size(), problem.size());
}

TEST(RematPrune, TakesOutWhatNobodyReads) {
  const Problem problem = test::remat_problem({{1, 4}, {1, 2}, {1, 2}}, {{0, 1}, {1, 2}});
  Profile profile(problem);
  Sequence sequence = {computed(0), computed(1), computed(0), computed(1), computed(2), computed(1)};
  profile.evaluate(sequence);
  prune(sequence, profile, prices_of(problem, {.time = 1}), 6, problem, false, [] { return false; });
  EXPECT_EQ(sequence, first_runs(problem));
}

// With another order allowed, a first run that nobody reads before the node is computed again goes too.
TEST(RematPrune, MovesAFirstRunDown) {
  const Problem problem = test::remat_problem({{1, 4}, {1, 2}, {1, 2}}, {{0, 2}, {1, 2}});
  Profile profile(problem);
  Sequence sequence = {computed(0), computed(1), computed(0), computed(2)};
  profile.evaluate(sequence);
  Sequence kept = sequence;
  drop_unused(kept, profile, false);
  EXPECT_EQ(kept, sequence);
  drop_unused(sequence, profile, true);
  EXPECT_EQ(sequence, (Sequence{computed(1), computed(0), computed(2)}));
}

}  // namespace
}  // namespace monet::remat
