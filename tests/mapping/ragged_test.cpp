// Sizes that divide nothing are costed as they are: no padding in cycles, energy or traffic.
#include "mapping/random_cases.h"
#include "mapping/search.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet {
namespace {

using namespace test;

MappedProblem mapped(const Problem& problem, Objective objective = Objective::latency,
                     const Target& target = tpu_like()) {
  const auto result = map_problem(problem, target, {.objective = objective});
  EXPECT_TRUE(result) << result.error().text();
  return *result;
}

double ceil_of(std::int64_t a, std::int64_t b) { return static_cast<double>((a + b - 1) / b); }

TEST(Ragged, ThirtyThreeColumnsOnThirtyTwoLanesAreTwoPasses) {
  const MappedProblem result = mapped(matmul(1, 100, 33, 32));
  EXPECT_EQ(result.cost.compute_cycles, 200);
  ASSERT_EQ(result.mapping.spatial.size(), 2U);
  const auto k = std::ranges::find(result.mapping.spatial, 0, &SpatialLoop::dimension);
  EXPECT_EQ(k->size, 17);
  EXPECT_DOUBLE_EQ(k->average, 16.5);
}

TEST(Ragged, ComputeCyclesAreWhatCeilingsAllow) {
  struct Sizes {
    std::int64_t rows, columns, depth;
  };
  for (auto [rows, columns, depth] : {Sizes{1024, 50257, 768}, Sizes{7, 50257, 33}, Sizes{49, 1000, 513},
                                      Sizes{3, 31, 1}, Sizes{5, 65, 97}, Sizes{1, 29, 1733}}) {
    const MappedProblem result = mapped(matmul(1, rows, columns, depth));
    EXPECT_EQ(result.cost.compute_cycles, static_cast<double>(rows) * ceil_of(columns, 32) * ceil_of(depth, 32))
        << rows << ' ' << columns << ' ' << depth;
  }
}

TEST(Ragged, OutputsAndWeightsCrossOffChipPortsAsTheyAre) {
  // One row: nothing is used twice, so every weight crosses the port exactly once whatever the order.
  const MappedProblem result = mapped(matmul(1, 1, 50257, 768), Objective::energy);
  const auto& weights = result.cost.traffic[1].back();
  EXPECT_NEAR(weights.bits[static_cast<std::size_t>(Transfer::to_low)], 50257.0 * 768 * 8, 1);
  EXPECT_LE(weights.words[static_cast<std::size_t>(Transfer::to_low)], 50257.0 * 768 * 8 / 64 * 1.001);
  const auto& outputs = result.cost.traffic[2].back();
  EXPECT_NEAR(outputs.bits[static_cast<std::size_t>(Transfer::from_low)], 50257.0 * 8, 1e-3);
}

TEST(Ragged, UtilizationOfLargeOddProductsIsHigh) {
  for (const Problem& problem :
       {matmul(1, 1024, 50257, 768), matmul(3, 77, 129, 515), convolution(509, 251, 7, 7, 3)}) {
    const MappedProblem result = mapped(problem);
    EXPECT_GT(result.cost.ideal_cycles / result.cost.compute_cycles, 0.75);
  }
  EXPECT_GT(mapped(matmul(1, 1024, 50257, 768)).cost.ideal_cycles / mapped(matmul(1, 1024, 50257, 768)).cost.cycles,
            0.95);
}

// Between the sizes that divide, costs grow with the size: 7x7 maps, odd batches.
TEST(Ragged, EnergyLiesBetweenTheNeighboursThatDivide) {
  for (std::int64_t columns : {33, 47, 63, 95, 97, 127, 250}) {
    const std::int64_t below = columns / 32 * 32;
    const double ragged = mapped(matmul(1, 64, columns, 64), Objective::energy).cost.energy_pj;
    const double less = mapped(matmul(1, 64, below, 64), Objective::energy).cost.energy_pj;
    const double more = mapped(matmul(1, 64, below + 32, 64), Objective::energy).cost.energy_pj;
    EXPECT_GE(ragged * 1.001, less) << columns;
    EXPECT_LE(ragged, more * 1.001) << columns;
  }
  for (std::int64_t map : {7, 9, 11, 13, 15}) {
    const double ragged = mapped(convolution(64, 64, map, map, 3), Objective::energy).cost.energy_pj;
    const double less = mapped(convolution(64, 64, map - 1, map - 1, 3), Objective::energy).cost.energy_pj;
    const double more = mapped(convolution(64, 64, map + 1, map + 1, 3), Objective::energy).cost.energy_pj;
    EXPECT_GE(ragged * 1.01, less) << map;
    EXPECT_LE(ragged, more * 1.01) << map;
  }
}

TEST(Ragged, FactorsOfLargePrimesStayClose) {
  for (std::int64_t n : {std::int64_t{50257}, std::int64_t{1733}, std::int64_t{7919}, std::int64_t{1000003}}) {
    const std::int64_t iterations[] = {n};
    double product = 1;
    for (const Factor& factor : factors_of(iterations, 6)) product *= static_cast<double>(factor.size);
    EXPECT_GE(product, static_cast<double>(n));
    EXPECT_LE(product, static_cast<double>(n) * 1.02) << n;
  }
}

}  // namespace
}  // namespace monet
