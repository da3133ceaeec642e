#include "mapping/spatial.h"

#include "mapping/machines.h"
#include "mapping/precision.h"
#include "mapping/search.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using test::convolution;
using test::tpu_like;

std::size_t loop_named(const Problem& problem, Dim name) {
  for (std::size_t i = 0; i < problem.loops.size(); ++i) {
    if (problem.loops[i].name == name) return i;
  }
  ADD_FAILURE() << name_of(name);
  return 0;
}

bool allows(const Problem& problem, const Unit& unit, std::size_t dimension, Dim name) {
  return (allowed_loops(problem, unit)[dimension] >> loop_named(problem, name) & 1U) != 0;
}

// dW[k, c] = sum over y of x[c, y] * dy[k, y]: here K and C are rows and columns, and OY adds up.
Problem weight_gradient() {
  Problem problem;
  problem.loops = {{Dim::K, 64}, {Dim::C, 32}, {Dim::OY, 128}};
  const auto axis = [](std::uint8_t loop, std::int64_t size) {
    return ProblemAxis{.terms = {{loop, 1}}, .limit = size};
  };
  problem.operands = {{.path = Path::input, .bits = 8, .partial_bits = 16, .axes = {axis(1, 32), axis(2, 128)}},
                      {.path = Path::weight, .bits = 8, .partial_bits = 16, .axes = {axis(0, 64), axis(2, 128)}},
                      {.path = Path::output,
                       .written = true,
                       .accumulates = true,
                       .bits = 8,
                       .partial_bits = 16,
                       .axes = {axis(0, 64), axis(1, 32)}}};
  problem.per_point[Count::mac] = 1;
  problem.precision = "int8";
  return problem;
}

TEST(AllowedLoops, LoopsThatDoWhatTheirNameSaysMustBeNamed) {
  const Target target = tpu_like();
  const Problem problem = convolution(64, 32, 14, 14, 3);
  EXPECT_TRUE(allows(problem, target.unit, 0, Dim::K));
  EXPECT_FALSE(allows(problem, target.unit, 0, Dim::C));
  EXPECT_TRUE(allows(problem, target.unit, 1, Dim::C));
  EXPECT_FALSE(allows(problem, target.unit, 1, Dim::FX));  // it adds up too, and is not named
  EXPECT_FALSE(allows(problem, target.unit, 0, Dim::OX));
}

TEST(AllowedLoops, LoopsThatDoSomethingElseGoWhereTheirLikeAre) {
  const Target target = tpu_like();
  const Problem problem = weight_gradient();
  EXPECT_FALSE(allows(problem, target.unit, 1, Dim::C));  // a row of the result here
  EXPECT_TRUE(allows(problem, target.unit, 1, Dim::OY));  // adds up
  EXPECT_TRUE(allows(problem, target.unit, 0, Dim::K));
  const auto mapped = map_problem(problem, target);
  ASSERT_TRUE(mapped) << mapped.error().text();
  // 64 columns on 32 lanes, 128 sums on 32: all lanes work.
  EXPECT_EQ(mapped->cost.compute_cycles, 64.0 * 32 * 128 / 1024);
}

TEST(AllowedLoops, OtherOperationsGoAnywhere) {
  Problem problem = weight_gradient();
  problem.per_point = {};
  problem.per_point[Count::add] = 1;
  for (Dim dim : {Dim::K, Dim::C, Dim::OY}) EXPECT_TRUE(allows(problem, tpu_like().unit, 0, dim));
}

TEST(SpatialChoices, NeedNoMoreOfAMemoryThanItHas) {
  // A register of 16 bits that feeds all 32 lanes of the second dimension holds one partial sum: no loop that runs over
  // outputs may be unrolled there.
  Target target = tpu_like();
  target.unit.dimensions[1].loops = {};
  target.memories[1].served = 2;
  for (const Unrolling& choice : spatial_choices(convolution(64, 32, 14, 14, 3), target, {})) {
    for (const SpatialLoop& loop : choice.spatial) {
      EXPECT_TRUE(loop.dimension == 0 || loop.loop == 1 || loop.loop >= 4) << int{loop.loop};
    }
  }
}

TEST(SpatialChoices, TooManyDimensionsLetFewerLoopsShareOne) {
  Problem problem = convolution(64, 32, 14, 14, 3);
  Target target = tpu_like();
  target.unit.dimensions.assign(12, {"d", 2, {}});
  for (TargetMemory& memory : target.memories) memory.served = 0xfff;
  const auto choices = spatial_choices(problem, target, {});
  ASSERT_FALSE(choices.empty());
}

TEST(Precision, BitsAreTheFirstNumberOfTheName) {
  EXPECT_EQ(bits_of_precision("bf16"), 16);
  EXPECT_EQ(bits_of_precision("fp8_e4m3"), 8);
  EXPECT_EQ(bits_of_precision("mxint8"), 8);
  EXPECT_EQ(bits_of_precision("double"), 0);
}

}  // namespace
}  // namespace monet
