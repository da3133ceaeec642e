// From operators to problems, and loops that may be one.
#include "mapping/extract.h"

#include "mapping/random_cases.h"
#include "networks/builtin.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;

// Two tensors of one shape are two operands, however alike.
TEST(Extract, KeepsEveryTensorThatIsRead) {
  const auto graph = build_builtin("resnet18", 1);
  ASSERT_TRUE(graph);
  std::size_t additions = 0;
  for (const Node& node : graph->nodes()) {
    const OperatorNests nests = nests_of(site_of(*graph, node));
    const auto problems = problems_of(*graph, node);
    ASSERT_EQ(problems.size(), nests.nests.size());
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const Nest& nest = nests.nests[i];
      EXPECT_EQ(problems[i].operands.size(), nest.reads.size() + nest.writes.size()) << node.name;
      EXPECT_EQ(problems[i].points(), static_cast<double>(*points(nest))) << node.name;
    }
    additions += node.op == Op::Add;
  }
  EXPECT_EQ(additions, 8U);
}

// Only products change, and only their rate.
TEST(Extract, CostsProductsAtAnotherPrecision) {
  const auto graph = build_builtin("mlp-robotics", 3);
  ASSERT_TRUE(graph);
  std::size_t products = 0;
  for (const Node& node : graph->nodes()) {
    const auto usual = problems_of(*graph, node);
    const auto found = problems_of(*graph, node, {.precision = {}, .products = "tf32"});
    ASSERT_EQ(found.size(), usual.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool product = found[i].per_point[Count::mac] > 0;
      EXPECT_EQ(found[i].precision, product ? "tf32" : usual[i].precision) << node.name;
      for (std::size_t o = 0; o < found[i].operands.size(); ++o) {
        EXPECT_EQ(found[i].operands[o].bits, usual[i].operands[o].bits);
      }
      products += product ? 1 : 0;
    }
  }
  EXPECT_EQ(products, 4U);
}

// Every element of every operand, as the shapes say.
TEST(Extract, KnowsTheSizesOfOperands) {
  const auto graph = build_builtin("mlp-robotics", 3);
  ASSERT_TRUE(graph);
  for (const Node& node : graph->nodes()) {
    const auto problems = problems_of(*graph, node);
    if (problems.empty()) continue;
    std::vector<double> extents;
    for (const Loop& loop : problems.back().loops) extents.push_back(static_cast<double>(loop.size));
    const ProblemOperand& output = problems.back().operands.back();
    EXPECT_TRUE(output.written);
    EXPECT_EQ(elements(output, extents), static_cast<double>(element_count((*graph)[node.outputs[0]].type.shape)))
        << node.name;
  }
}

TEST(Coalesce, LeavesALoopThatTwoAxesFollow) {
  using enum Dim;
  // x[a, b, b + c]
  const Problem problem = problem_from({{{B, 4}, {D, 6}, {FX, 3}},
                                        {{Path::input, {{{{B, 1}}}, {{{D, 1}}}, {{{D, 1}, {FX, 1}}}}},
                                         {Path::output, {{{{B, 1}}}, {{{D, 1}}}, {{{FX, 1}}}}}}});
  const Problem joined = coalesce(problem, Unit{});
  EXPECT_EQ(joined, problem);
}

TEST(Coalesce, LeavesLoopsThatAreNamedOrThatTheUnitTellsApart) {
  const Problem problem = broadcast_add(6, 8);
  Problem same = problem;
  same.operands.erase(same.operands.begin() + 1);  // no broadcast: both loops alike
  EXPECT_EQ(coalesce(same, Unit{}).loops.size(), 1U);
  EXPECT_EQ(coalesce(same, Unit{}).loops[0].size, 48);
  EXPECT_EQ(coalesce(problem, Unit{}), problem);
  const Dim named[] = {Dim::K};
  EXPECT_EQ(coalesce(same, Unit{}, named), same);
  // A dimension for one of two loops that run over the rows of a product tells them apart.
  same.per_point = {};
  same.per_point[Count::mac] = 1;
  same.loops = {{Dim::OY, 6}, {Dim::OX, 8}};
  EXPECT_EQ(coalesce(same, Unit{.dimensions = {{"D1", 8, {Dim::OX}}}}), same);
  EXPECT_EQ(coalesce(same, Unit{.dimensions = {{"D1", 8, {Dim::OX, Dim::OY}}}}).loops.size(), 1U);
}

}  // namespace
}  // namespace monet
