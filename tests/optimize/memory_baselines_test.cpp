// Published rules on small cases, worked by hand.
#include "optimize/memory/baselines.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace monet {
namespace {

using Kept = std::vector<bool>;

TEST(Chen, KeepsATensorWhereSoManyBytesHaveComeTogether) {
  // Equal tensors of 10: 10, 20 and 30 stay within 30; the fourth goes beyond and is kept.
  const std::vector<std::int64_t> equal(9, 10);
  EXPECT_EQ(chen_kept(equal, 30), (Kept{false, false, false, true, false, false, false, true, false}));
  // A tensor that is more than the limit by itself is kept at once.
  EXPECT_EQ(chen_kept(std::vector<std::int64_t>{5, 40, 5, 5}, 30), (Kept{false, true, false, false}));
  EXPECT_EQ(chen_kept(equal, 0), Kept(9, true));
}

// 0 -> 1 -> 2 -> 3, and back: 4 reads 3 and 2, 5 reads 4 and 1, 6 reads 5 and 0. Each takes a byte and a second.
remat::Problem chain() {
  remat::Problem problem;
  for (int i = 0; i < 7; ++i) problem.nodes.push_back({.name = "", .time = 1, .energy_j = 0, .bytes = 1});
  const std::vector<std::pair<remat::NodeIndex, remat::NodeIndex>> pairs = {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {3, 4},
                                                                            {1, 5}, {4, 5}, {0, 6}, {5, 6}};
  problem.connect(pairs);
  return problem;
}

std::vector<remat::NodeIndex> nodes_of(const remat::Sequence& sequence) {
  std::vector<remat::NodeIndex> nodes;
  for (const remat::Run& run : sequence) nodes.push_back(run.node());
  return nodes;
}

TEST(Dtr, RunsEachOnceWhereAllFits) {
  const auto sequence = dtr_sequence(chain(), 5);
  ASSERT_TRUE(sequence.has_value());
  EXPECT_EQ(nodes_of(*sequence), (std::vector<remat::NodeIndex>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Dtr, DropsWhatIsStaleAndCheapAndRunsItAgain) {
  // With room for 4: before 4 runs, 0 to 3 are there, and it reads 2 and 3. The clock says 4 seconds; 0 was last read
  // when it said 1, 1 when it said 2. Both cost a second: 1 / 3 of 0 is less than 1 / 2 of 1, so 0 goes.
  const auto sequence = dtr_sequence(chain(), 4);
  ASSERT_TRUE(sequence.has_value());
  EXPECT_EQ(nodes_of(*sequence), (std::vector<remat::NodeIndex>{0, 1, 2, 3, 4, 5, 0, 6}));
}

TEST(Dtr, KnowsWhereThereIsNoRoom) { EXPECT_FALSE(dtr_sequence(chain(), 2).has_value()); }

TEST(Capuchin, TakesTheLongestFreeTimeFirstAndPagesWhatItHides) {
  // Free times less transfers: 10 - 2 = 8, 3 - 2 = 1, 1 - 2 = -1.
  const std::vector<CapuchinTensor> tensors = {
      {.bytes = 4, .made = 0, .last_read = 0, .next_read = 10, .out_s = 1, .in_s = 1, .again_s = 5, .operands = {}},
      {.bytes = 4, .made = 1, .last_read = 1, .next_read = 4, .out_s = 1, .in_s = 1, .again_s = 0.5, .operands = {0}},
      {.bytes = 4, .made = 2, .last_read = 2, .next_read = 3, .out_s = 1, .in_s = 1, .again_s = 0.5, .operands = {1}}};
  using enum CapuchinChoice;
  EXPECT_EQ(capuchin_choices(tensors, 4), (std::vector{page, keep, keep}));
  EXPECT_EQ(capuchin_choices(tensors, 8), (std::vector{page, page, keep}));
  // The third would be waited for one second, and is run again in half of one.
  EXPECT_EQ(capuchin_choices(tensors, 12), (std::vector{page, page, recompute}));
}

TEST(Capuchin, CountsWhatARunNeedsThatIsDroppedToo) {
  // Nothing can be paged but the second, which waits a second for it; running it again takes 0.6, and 0.6 more for the
  // first, which is dropped before it.
  const std::vector<CapuchinTensor> tensors = {
      {.bytes = 4, .made = 0, .last_read = 0, .next_read = 9, .out_s = {}, .in_s = {}, .again_s = 0.6, .operands = {}},
      {.bytes = 4, .made = 1, .last_read = 1, .next_read = 2, .out_s = 1, .in_s = 1, .again_s = 0.6, .operands = {0}}};
  using enum CapuchinChoice;
  EXPECT_EQ(capuchin_choices(tensors, 8), (std::vector{recompute, page}));
  // Alone it would be run again.
  std::vector<CapuchinTensor> alone = {tensors[1]};
  alone.front().operands.clear();
  EXPECT_EQ(capuchin_choices(alone, 4).front(), recompute);
}

}  // namespace
}  // namespace monet
