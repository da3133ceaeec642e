// Do the parts of ZigZag's model do what they say: Python's numbers and sets, orders, port windows, loading?
#include "compat/zigzag/factors.h"
#include "compat/zigzag/latency.h"
#include "compat/zigzag/loading.h"
#include "compat/zigzag/python.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

namespace monet::zigzag {
namespace {

using ::testing::ElementsAre;

TEST(ZigzagPython, NumbersRoundAsInPython) {
  EXPECT_EQ(round_even(0.5), 0);
  EXPECT_EQ(round_even(1.5), 2);
  EXPECT_EQ(round_even(2.5), 2);
  EXPECT_EQ(round_even(7.499999999), 7);
  EXPECT_EQ(truncate(-2.7), -2);
  EXPECT_EQ(ceiling(2.0), 2);
  EXPECT_EQ(ceiling(2.0000001), 3);
  EXPECT_EQ(ceiling(-2.5), -2);
  EXPECT_EQ(round_thousandths(1023.99999999), 1024);
  EXPECT_EQ(round_thousandths(3.4999999), 3.5);
}

// Expected: what CPython 3.11 prints for the sets of ZigZag 3.8.5's objects.
TEST(ZigzagPython, SetsAreWalkedAsInPython) {
  std::vector<std::uint64_t> dimensions;
  for (const char* name : {"D1", "D2", "D3", "D4"}) dimensions.push_back(dimension_hash(name, 0));
  EXPECT_THAT(set_order(dimensions), ElementsAre(0, 1, 3, 2));  // {D1, D2, D4, D3}
  const std::vector<Dim> loops{Dim::B, Dim::K, Dim::G, Dim::OX, Dim::OY, Dim::C, Dim::FX, Dim::FY};
  std::vector<std::uint64_t> hashes;
  for (Dim loop : loops) hashes.push_back(loop_hash(loop));
  std::vector<Dim> walked;
  for (std::uint8_t i : set_order(hashes)) walked.push_back(loops[i]);
  EXPECT_THAT(walked, ElementsAre(Dim::FY, Dim::FX, Dim::B, Dim::G, Dim::OX, Dim::C, Dim::K, Dim::OY));
}

TEST(ZigzagPython, OtherNamesKeepTheirOrder) {
  EXPECT_THAT(set_order(std::vector{dimension_hash("rows", 0), dimension_hash("columns", 1), dimension_hash("x", 2)}),
              ElementsAre(0, 1, 2));
}

std::vector<std::pair<int, int>> pairs(std::span<const Factor> order) {
  std::vector<std::pair<int, int>> made;
  for (const Factor& factor : order) made.emplace_back(factor.loop, factor.size);
  return made;
}

RC_GTEST_PROP(ZigzagOrders, EveryOrderComesOnce, ()) {
  const ZigzagLayer layer = zigzag_conv("conv", {});
  const auto count = *rc::gen::inRange(1, 7);
  std::vector<Factor> factors;
  for (int i = 0; i < count; ++i) {
    factors.push_back({static_cast<std::uint8_t>(*rc::gen::inRange(0, 3)), *rc::gen::inRange(2, 4)});
  }
  std::set<std::vector<std::pair<int, int>>> expected;
  std::vector<std::pair<int, int>> sorted = pairs(factors);
  std::ranges::sort(sorted);
  do expected.insert(sorted);
  while (std::next_permutation(sorted.begin(), sorted.end()));
  std::set<std::vector<std::pair<int, int>>> found;
  Orders orders(layer, factors);
  std::size_t visited = 0;
  do {
    ++visited;
    found.insert(pairs(orders.order()));
  } while (orders.next());
  RC_ASSERT(found == expected);
  RC_ASSERT(visited == expected.size());
  RC_ASSERT(order_count(factors) == static_cast<double>(expected.size()));
}

// Expected: the first orders that multipermute (the generator ZigZag uses) gives for C 2, FX 3, K 2, K 2.
TEST(ZigzagOrders, ComeAsPrefixShiftsFromTheLargest) {
  const ZigzagLayer layer = zigzag_conv("conv", {});
  constexpr std::uint8_t k = 1, c = 5, fx = 6;
  Orders orders(layer, {{c, 2}, {fx, 3}, {k, 2}, {k, 2}});
  EXPECT_THAT(orders.order(), ElementsAre(Factor{k, 2}, Factor{k, 2}, Factor{fx, 3}, Factor{c, 2}));
  ASSERT_TRUE(orders.next());
  EXPECT_THAT(orders.order(), ElementsAre(Factor{c, 2}, Factor{k, 2}, Factor{k, 2}, Factor{fx, 3}));
  ASSERT_TRUE(orders.next());
  EXPECT_THAT(orders.order(), ElementsAre(Factor{k, 2}, Factor{c, 2}, Factor{k, 2}, Factor{fx, 3}));
}

RC_GTEST_PROP(ZigzagPorts, UnionOfWindowsIsThatOfEveryCycle, ()) {
  std::vector<PortWindow> windows;
  double period = 1;
  const auto count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    period *= *rc::gen::inRange(1, 6);
    windows.push_back({period, static_cast<double>(*rc::gen::inRange(1, static_cast<int>(period) + 1))});
  }
  double covered = 0;
  for (double cycle = 0; cycle < period; ++cycle) {
    covered += std::ranges::any_of(windows,
                                   [&](const PortWindow& each) { return std::fmod(cycle, each.period) < each.window; });
  }
  std::ranges::reverse(windows);
  RC_ASSERT(windows_union(windows) == covered);
}

TEST(ZigzagLoading, LongestLoadsAreShortenedFirst) {
  std::vector<SingleLoad> loads{{6, 5}, {10, 2}};
  shorten(loads, 3, true);
  EXPECT_EQ(loads[0].cycles, 6);
  EXPECT_EQ(loads[1].cycles, 7);
}

// With cycles to spare the first gives up 8 of 10, then both the 1 that the second can give.
TEST(ZigzagLoading, ALoadMayGetShorterThanItsLeast) {
  std::vector<SingleLoad> loads{{6, 5}, {10, 2}};
  shorten(loads, 100, true);
  EXPECT_EQ(loads[0].cycles, 5);
  EXPECT_EQ(loads[1].cycles, 1);
  std::vector<SingleLoad> negative{{3, 0}, {3, 0}, {3, 0}};
  shorten(negative, 100, true);
  EXPECT_EQ(negative[0].cycles, -6);
}

TEST(ZigzagLoading, WithoutTheDefectNoLoadDoes) {
  std::vector<SingleLoad> loads{{6, 5}, {10, 2}, {3, 0}, {1, 4}};
  shorten(loads, 100, false);
  EXPECT_EQ(loads[0].cycles, 5);
  EXPECT_EQ(loads[1].cycles, 2);
  EXPECT_EQ(loads[2].cycles, 0);
  EXPECT_EQ(loads[3].cycles, 1);
}

TEST(ZigzagLoading, NothingToSpareChangesNothing) {
  std::vector<SingleLoad> loads{{6, 9}};
  shorten(loads, 0, true);
  EXPECT_EQ(loads[0].cycles, 6);
  shorten(loads, 1, true);  // less than its least: it grows
  EXPECT_EQ(loads[0].cycles, 9);
}

}  // namespace
}  // namespace monet::zigzag
