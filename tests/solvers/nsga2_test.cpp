#include "solvers/nsga2.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace monet {
namespace {

// Two numbers, coded in bits: x of `first`, y of the rest; to be close to (0, 0) and to (1, 1) at once.
void two_targets(std::span<GeneticPoint> points) {
  for (GeneticPoint& point : points) {
    double x = 0;
    for (std::size_t i = 0; i < point.genome.size(); ++i) x += point.genome[i] * std::pow(2.0, static_cast<double>(i));
    x /= std::pow(2.0, static_cast<double>(point.genome.size())) - 1;
    point.objectives = {x * x, (x - 1) * (x - 1)};
  }
}

std::vector<GeneticPoint> random_points(std::uint64_t seed, std::size_t count, std::size_t objectives) {
  SeededRandom random(seed);
  std::vector<GeneticPoint> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    points[i].genome = {static_cast<std::uint16_t>(i)};
    for (std::size_t o = 0; o < objectives; ++o) points[i].objectives.push_back(static_cast<double>(random.below(12)));
    points[i].violation = random.with(0.1) ? 1 : 0;
  }
  return points;
}

TEST(Nsga2, TheFrontIsWhatNobodyDominates) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<GeneticPoint> points = random_points(seed, 60, 1 + seed % 3);
    std::set<std::vector<double>> expected;
    for (const GeneticPoint& point : points) {
      const bool beaten = std::ranges::any_of(points, [&](const GeneticPoint& other) {
        return other.violation == 0 && dominates(other.objectives, point.objectives);
      });
      if (point.violation == 0 && !beaten) expected.insert(point.objectives);
    }
    std::set<std::vector<double>> found;
    for (const GeneticPoint& point : front_of(points)) EXPECT_TRUE(found.insert(point.objectives).second);
    EXPECT_EQ(found, expected) << seed;
  }
}

TEST(Nsga2, IsTheSameForASeedAndFindsAWholeSmallFront) {
  const std::vector<std::uint16_t> bits(6, 2);
  const GeneticOptions options{.population = 40, .generations = 40, .seed = 3};
  const GeneticResult one = nsga2(bits, {}, two_targets, options);
  const GeneticResult two = nsga2(bits, {}, two_targets, options);
  EXPECT_EQ(one.front, two.front);
  // Every x between the targets is on the front.
  EXPECT_EQ(one.front.size(), 64U);
  EXPECT_EQ(one.evaluated, 64U);
}

TEST(Nsga2, KeepsToConstraintsAndBeginsWithTheSeeds) {
  const std::vector<std::uint16_t> choices(8, 3);
  const Genome seed(8, 2);
  std::set<Genome> seen;
  const auto evaluate = [&](std::span<GeneticPoint> points) {
    for (GeneticPoint& point : points) {
      EXPECT_TRUE(seen.insert(point.genome).second) << "asked twice";
      const auto ones = static_cast<double>(std::ranges::count(point.genome, 1));
      const auto twos = static_cast<double>(std::ranges::count(point.genome, 2));
      point.objectives = {ones - 2 * twos};
      point.violation = std::max(0.0, twos - 3);  // three at most
    }
  };
  const GeneticResult result =
      nsga2(choices, std::span(&seed, 1), evaluate, {.population = 30, .generations = 60, .mutation = 0.15});
  EXPECT_TRUE(seen.contains(seed));
  ASSERT_EQ(result.front.size(), 1U);
  EXPECT_EQ(result.front[0].objectives[0], -6);
}

TEST(Nsga2, StopsWhenAsked) {
  std::size_t asked = 0;
  const std::vector<std::uint16_t> bits(10, 2);
  const GeneticResult result = nsga2(bits, {}, two_targets, {.generations = 50, .stop = [&] { return ++asked > 3; }});
  EXPECT_EQ(result.generations, 3U);
  EXPECT_FALSE(result.front.empty());
}

}  // namespace
}  // namespace monet
