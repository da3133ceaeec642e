// Does a mapping file end in what the search keeps to?
#include "mapping/constraints.h"

#include "mapping/entry_of.h"
#include "mapping/extract.h"
#include "mapping/machines.h"
#include "mapping/random_cases.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace monet {
namespace {

using test::entry_of;
using test::expect_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::uint8_t k_loop = 0, c_loop = 1, oy_loop = 2, ox_loop = 3;  // loops of test::convolution

MappingConstraints constraints(const std::string& fields, const Problem& problem) {
  const auto result = constraints_of(entry_of(fields), problem, test::tpu_like());
  EXPECT_TRUE(result) << result.error().text();
  return result ? *result : MappingConstraints{};
}

std::vector<std::tuple<int, int, int>> unrolled(const MappingConstraints& constraints) {
  std::vector<std::tuple<int, int, int>> result;
  for (const SpatialLoop& loop : constraints.unrolled) {
    result.emplace_back(loop.dimension, loop.loop, static_cast<int>(loop.size));
  }
  return result;
}

TEST(MappingConstraints, Unrolling) {
  const Problem problem = test::convolution(64, 48, 14, 14, 3);
  EXPECT_THAT(unrolled(constraints("  spatial_mapping: {D1: [\"K, 32\"], D2: [\"C, 16\", \"OX, 2\"]}\n", problem)),
              ElementsAre(std::tuple(0, k_loop, 32), std::tuple(1, c_loop, 16), std::tuple(1, ox_loop, 2)));
  EXPECT_THAT(unrolled(constraints("", problem)), IsEmpty());
}

TEST(MappingConstraints, UnrollingIsCutToTheLoopAndToTheArray) {
  const Problem problem = test::convolution(64, 3, 14, 14, 3);
  EXPECT_THAT(unrolled(constraints("  spatial_mapping: {D1: [\"K, 64\"], D2: [\"C, 32\", \"OX, 32\"]}\n", problem)),
              ElementsAre(std::tuple(0, k_loop, 32), std::tuple(1, c_loop, 3), std::tuple(1, ox_loop, 10)));
}

// The lanes stay idle; they are not given to another loop.
TEST(MappingConstraints, UnrollingOfLoopsThatAreNotThere) {
  const Problem problem = test::convolution(64, 48, 14, 14, 1);
  EXPECT_THAT(unrolled(constraints("  spatial_mapping: {D1: [\"K, 32\"], D2: [\"FX, 3\"]}\n", problem)),
              ElementsAre(std::tuple(0, k_loop, 32), std::tuple(1, 0, 1)));
  SearchOptions options;
  options.constraints = constraints("  spatial_mapping: {D1: [\"K, 32\"], D2: [\"FX, 3\"]}\n", problem);
  const auto mapped = map_problem(problem, test::tpu_like(), options);
  ASSERT_TRUE(mapped) << mapped.error().text();
  EXPECT_EQ(mapped->cost.compute_cycles, 2.0 * 48 * 14 * 14);
}

TEST(MappingConstraints, ChannelsOfSumsAreCalledG) {
  const Problem product = test::convolution(64, 48, 14, 14, 3);
  EXPECT_THAT(unrolled(constraints("  spatial_mapping: {D1: [\"G, 32\"]}\n", product)),
              ElementsAre(std::tuple(0, 0, 1)));
  Problem sum = test::broadcast_add(16, 64);
  sum.per_point = counts_of({{Count::add, 1}});
  EXPECT_THAT(unrolled(constraints("  spatial_mapping: {D1: [\"G, 32\"]}\n", sum)), ElementsAre(std::tuple(0, 1, 32)));
  const std::vector<Dim> named = named_loops(entry_of("  spatial_mapping: {D1: [\"G, 32\"]}\n"));
  EXPECT_THAT(named, UnorderedElementsAre(Dim::G, Dim::K));
}

TEST(MappingConstraints, Order) {
  const Problem problem = test::convolution(64, 48, 14, 14, 1);
  const MappingConstraints inside =
      constraints("  temporal_ordering: [[OX, 14], [C, \"*\"], [FX, 3], [K, 1]]\n", problem);
  EXPECT_THAT(inside.innermost,
              ElementsAre(OrderSlot{ox_loop, 14}, OrderSlot{c_loop, {}}));  // without loops that are not there
  EXPECT_THAT(inside.outermost, IsEmpty());
  const MappingConstraints both =
      constraints("  temporal_ordering: [[OX, 14], [\"*\", \"*\"], [C, 3], [K, 2]]\n", problem);
  EXPECT_THAT(both.innermost, ElementsAre(OrderSlot{ox_loop, 14}));
  EXPECT_THAT(both.outermost, ElementsAre(OrderSlot{k_loop, 2}, OrderSlot{c_loop, 3}));  // the outermost first
}

std::vector<std::pair<int, int>> order_of(const MappedProblem& mapped) {
  std::vector<std::pair<int, int>> result;
  for (const TemporalLoop& loop : mapped.mapping.temporal) {
    result.emplace_back(loop.loop, static_cast<int>(loop.size));
  }
  return result;
}

TEST(MappingConstraints, AFixedOrderIsKept) {
  const Problem problem = test::convolution(64, 64, 14, 14, 1);
  SearchOptions options;
  options.constraints = constraints(
      "  spatial_mapping: {D1: [\"K, 32\"], D2: [\"C, 32\"]}\n"
      "  temporal_ordering: [[OX, 14], [C, 2], [OY, 14], [K, 2]]\n",
      problem);
  const auto mapped = map_problem(problem, test::tpu_like(), options);
  ASSERT_TRUE(mapped) << mapped.error().text();
  EXPECT_THAT(order_of(*mapped),
              ElementsAre(std::pair(ox_loop, 14), std::pair(c_loop, 2), std::pair(oy_loop, 14), std::pair(k_loop, 2)));
  options.constraints = {};
  const auto free = map_problem(problem, test::tpu_like(), options);
  ASSERT_TRUE(free);
  EXPECT_LE(free->cost.cycles, mapped->cost.cycles);
}

TEST(MappingConstraints, APartOfTheOrderIsKept) {
  const Problem problem = test::convolution(64, 64, 14, 14, 3);
  SearchOptions options;
  options.constraints = constraints(
      "  spatial_mapping: {D1: [\"K, 32\"], D2: [\"C, 32\"]}\n"
      "  temporal_ordering: [[FX, 3], [\"*\", \"*\"], [OY, 7], [C, 2]]\n",
      problem);
  const auto mapped = map_problem(problem, test::tpu_like(), options);
  ASSERT_TRUE(mapped) << mapped.error().text();
  const auto order = order_of(*mapped);
  EXPECT_EQ(problem.loops[static_cast<std::size_t>(order.front().first)].name, Dim::FX);
  EXPECT_EQ(order.front().second, 3);
  EXPECT_EQ(order.back(), std::pair(static_cast<int>(c_loop), 2));
  EXPECT_EQ(order[order.size() - 2], std::pair(static_cast<int>(oy_loop), 7));
}

TEST(MappingConstraints, ADimensionThatIsNotThere) {
  const auto result = constraints_of(entry_of("  spatial_mapping: {D1: [\"K, 32\"], D3: [\"OX, 2\"]}\n"),
                                     test::convolution(64, 48, 14, 14, 3), test::tpu_like());
  ASSERT_FALSE(result);
  expect_error(result.error(), {"'default'", "D3", "2 dimensions"}, "m.yaml:1:3");
}

// K is unrolled but for two iterations: one piece, and the order wants two.
TEST(MappingConstraints, AnOrderThatCannotBeKept) {
  const Problem problem = test::convolution(64, 64, 14, 14, 1);
  SearchOptions options;
  options.constraints = constraints(
      "  spatial_mapping: {D1: [\"K, 32\"], D2: [\"C, 32\"]}\n"
      "  temporal_ordering: [[K, \"*\"], [K, \"*\"]]\n",
      problem);
  const auto mapped = map_problem(problem, test::tpu_like(), options);
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().kind, ErrorKind::infeasible);
  EXPECT_EQ(mapped.error().message, "no order of its loops that is as prescribed fits the memories");
}

// The registers of a lane hold 128 weights: the 16 of all channels, but not the 256 of all channels and filters.
TEST(MappingConstraints, LoopsThatAMemoryCannotHold) {
  const Problem problem = test::convolution(512, 512, 2, 2, 1);  // 16 x 16 weights a lane
  SearchOptions options;
  options.constraints = constraints("  spatial_mapping: {D1: [\"K, 32\"], D2: [\"C, 32\"]}\n", problem);
  options.constraints.held = {{.path = Path::weight, .memory = 0, .loops = 1U << c_loop}};
  ASSERT_TRUE(map_problem(problem, test::tpu_like(), options));
  options.constraints.held[0].loops |= 1U << k_loop;
  const auto mapped = map_problem(problem, test::tpu_like(), options);
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().kind, ErrorKind::infeasible);
  EXPECT_THAT(mapped.error().message, HasSubstr("fits the memories"));
}

// Larger pieces than the loop has are cut: the lanes leave 14 of OX.
TEST(MappingConstraints, APieceThatIsTooLarge) {
  const Problem problem = test::convolution(64, 64, 14, 14, 1);
  SearchOptions options;
  options.constraints = constraints(
      "  spatial_mapping: {D1: [\"K, 32\"], D2: [\"C, 32\"]}\n"
      "  temporal_ordering: [[OX, 28]]\n",
      problem);
  const auto mapped = map_problem(problem, test::tpu_like(), options);
  ASSERT_TRUE(mapped) << mapped.error().text();
  EXPECT_EQ(order_of(*mapped).front().first, ox_loop);
  EXPECT_EQ(mapped->cost.compute_cycles, 2 * 2 * 14 * 14);
}

TEST(MappingConstraints, NamesOfLoops) {
  EXPECT_EQ(dim_named("OX"), Dim::OX);
  EXPECT_EQ(dim_named("B"), Dim::B);
  EXPECT_EQ(dim_named("Q"), std::nullopt);
  EXPECT_EQ(dim_named(""), std::nullopt);
  EXPECT_THAT(named_loops(entry_of("  spatial_mapping: {D1: [\"K, 32\"]}\n  temporal_ordering: [[OX, 4], [Q, 3]]\n")),
              ElementsAre(Dim::K, Dim::OX));
}

// Loops that a file names keep their names where others are joined.
TEST(MappingConstraints, NamedLoopsAreNotJoined) {
  Problem problem = test::problem_from({{{Dim::B, 4}, {Dim::K, 8}, {Dim::OY, 5}},
                                        {{Path::input, {{{{Dim::B, 1}}}, {{{Dim::K, 1}}}, {{{Dim::OY, 1}}}}},
                                         {Path::output, {{{{Dim::B, 1}}}, {{{Dim::K, 1}}}, {{{Dim::OY, 1}}}}}}});
  problem.per_point = counts_of({{Count::add, 1}});
  Unit unit = test::tpu_like().unit;
  unit.dimensions.resize(1);
  EXPECT_EQ(coalesce(problem, unit).loops.size(), 1U);
  const Problem kept = coalesce(problem, unit, named_loops(entry_of("  spatial_mapping: {D1: [\"K, 8\"]}\n")));
  ASSERT_EQ(kept.loops.size(), 2U);
  EXPECT_EQ(kept.loops[0].size, 20);
  EXPECT_EQ(kept.loops[1].name, Dim::K);
}

}  // namespace
}  // namespace monet
