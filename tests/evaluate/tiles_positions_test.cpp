// Are the patterns in which positions along an axis are kept exactly the positions that loops reach?
#include "evaluate/tiles/positions.h"

#include "base/checked.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace monet::tiling {
namespace {

using Set = std::set<std::int64_t>;

Set expanded(const Positions& positions) {
  Set result;
  for (const Runs& runs : positions) {
    for (std::int64_t i = 0; i < runs.count; ++i) {
      for (std::int64_t k = 0; k < runs.length; ++k) {
        EXPECT_TRUE(result.insert(runs.start + i * runs.step + k).second) << "twice";
      }
    }
  }
  return result;
}

void add_points(const AxisAccess& access, const std::vector<Range>& ranges, std::size_t term, std::int64_t sum,
                Set& result) {
  if (term == access.terms.size()) {
    const std::int64_t first = floor_divide(sum, access.divisor);
    for (std::int64_t i = first; i < first + access.span; ++i) {
      if (i >= 0 && i < access.size) result.insert(i);
    }
    return;
  }
  const AccessTerm& next = access.terms[term];
  const Range range = next.slot == AccessTerm::no_slot ? Range{0, next.size} : ranges[next.slot];
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    add_points(access, ranges, term + 1, sum + next.factor * i, result);
  }
}

// Rising, also what lies between the runs.
void expect_in_order(const Positions& positions) {
  for (std::size_t i = 1; i < positions.size(); ++i) EXPECT_LT(positions[i - 1].end(), positions[i].start + 1);
}

TEST(TilePositions, AreThoseOfTheLoops) {
  std::mt19937 random(1);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int round = 0; round < 20000; ++round) {
    AxisAccess access{.terms = {},
                      .offset = below(21) - 10,
                      .divisor = below(2) == 0 ? 1 : 1 + below(5),
                      .span = below(2) == 0 ? 1 : 1 + below(4),
                      .size = 1 + below(40)};
    std::vector<Range> ranges;
    for (std::int64_t i = below(4); i > 0; --i) {
      const std::int64_t size = 1 + below(6);
      const std::int64_t begin = below(size);
      access.terms.push_back({.slot = static_cast<std::uint8_t>(ranges.size()), .size = size, .factor = below(14) - 3});
      if (below(3) == 0) access.terms.back().slot = AccessTerm::no_slot;
      ranges.push_back({begin, begin + 1 + below(size - begin)});
    }
    Positions positions;
    reach(access, ranges, positions);
    Set expected;
    add_points(access, ranges, 0, access.offset, expected);
    ASSERT_EQ(expanded(positions), expected) << "round " << round;
    expect_in_order(positions);
    const std::int64_t least = below(50) - 5;
    std::int64_t less = 0;
    for (const Runs& runs : positions) less += runs.below(least);
    ASSERT_EQ(less, std::distance(expected.begin(), expected.lower_bound(least)));

    const std::int64_t begin = below(access.size + 1);
    const AffineMap map{begin, begin + below(access.size - begin + 1), below(7) - 3, below(9) - 4};
    apply(map, positions);
    Set images;
    for (std::int64_t x : expected) {
      if (x >= map.begin && x < map.end) images.insert(map.scale * x + map.offset);
    }
    ASSERT_EQ(expanded(positions), images) << "round " << round;
    expect_in_order(positions);
  }
}

// 10^12 positions with holes are a few numbers.
TEST(TilePositions, OfLongAxesAreFewNumbers) {
  const std::int64_t size = 1'000'000'000'000;
  const AxisAccess access{
      .terms = {{.slot = 0, .size = size / 4, .factor = 4}, {.size = 2, .factor = 1}}, .offset = -1, .size = size};
  Positions positions;
  reach(access, std::vector<Range>{{0, size / 4}}, positions);
  EXPECT_LE(positions.size(), 2U);
  EXPECT_EQ(size_of(positions), size / 2 - 1);
}

}  // namespace
}  // namespace monet::tiling
