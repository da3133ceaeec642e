// Are fronts, volumes, sensitivities and rank correlations what slow and obvious ways say?
#include "explore/analysis/analysis.h"

#include "explore/toy_space.h"
#include "solvers/nsga2.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

namespace monet::explore {
namespace {

using test::toy_outcome;
using test::toy_space;

const std::vector<Objective> two{{Metric::latency}, {Metric::energy}};
const std::vector<Objective> four{{Metric::latency}, {Metric::energy, 0}, {Metric::area}, {Metric::utilization}};

std::vector<Outcome> toy_outcomes() {
  std::vector<Outcome> outcomes;
  for (Design design = 0; design < 60; ++design) outcomes.push_back(toy_outcome(design));
  return outcomes;
}

TEST(Front, IsWhatAllPairsSay) {
  const Space space = toy_space();
  std::vector<Outcome> outcomes = toy_outcomes();
  outcomes.push_back(outcomes[0]);  // equal to another one
  outcomes.back().design = 59;
  for (const auto& objectives : {two, four}) {
    std::vector<Design> expected;
    for (const Outcome& a : outcomes) {
      if (!a.ran()) continue;
      const auto values = values_of(a, space, objectives);
      const bool out = std::ranges::any_of(outcomes, [&](const Outcome& b) {
        if (!b.ran()) return false;
        const auto others = values_of(b, space, objectives);
        return dominates(others, values) || (others == values && b.design < a.design);
      });
      if (!out) expected.push_back(a.design);
    }
    const std::vector<Outcome> front = front_of(outcomes, space, objectives);
    std::vector<Design> found;
    for (const Outcome& outcome : front) found.push_back(outcome.design);
    EXPECT_TRUE(std::ranges::is_sorted(front, {}, [&](const Outcome& o) { return value_of(o, space, objectives[0]); }));
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected);
  }
  EXPECT_TRUE(front_of({}, space, two).empty());
}

using Points = std::vector<std::vector<double>>;

// By the volumes of the intersections of all subsets.
double by_inclusion_and_exclusion(const Points& points) {
  double volume = 0;
  for (std::uint32_t subset = 1; subset < (1U << points.size()); ++subset) {
    std::vector<double> corner(points[0].size(), 0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if ((subset >> i & 1U) == 0) continue;
      for (std::size_t k = 0; k < corner.size(); ++k) corner[k] = std::max(corner[k], points[i][k]);
    }
    double box = 1;
    for (const double value : corner) box *= std::max(0.0, 1 - value);
    volume += std::popcount(subset) % 2 == 1 ? box : -box;
  }
  return volume;
}

TEST(Hypervolume, IsWhatInclusionAndExclusionSay) {
  SeededRandom random(11);
  for (int round = 0; round < 200; ++round) {
    const std::size_t objectives = 1 + random.below(6), count = 1 + random.below(9);
    Points points(count, std::vector<double>(objectives)), scaled;
    for (auto& point : points) {
      // Coarse, so that some are equal in some; some beyond the reference.
      for (double& value : point) value = static_cast<double>(random.below(10)) / 8;
    }
    const std::vector<double> ideal(objectives, -3), reference(objectives, 5);
    for (const auto& point : points) {
      scaled.push_back(point);
      for (double& value : scaled.back()) value = -3 + 8 * value;
    }
    EXPECT_NEAR(hypervolume(scaled, ideal, reference), by_inclusion_and_exclusion(points), 1e-12);
  }
}

TEST(Hypervolume, Corners) {
  const std::vector<double> zero{0, 0}, one{1, 1}, flat{0, 1};
  EXPECT_EQ(hypervolume({}, zero, one), 0);
  EXPECT_EQ(hypervolume({{0, 0}}, zero, one), 1);
  EXPECT_EQ(hypervolume({{1, 0}, {0, 1}}, zero, one), 0);
  EXPECT_EQ(hypervolume({{0, 0.25}}, zero, flat), 0.75) << "all are equal in the first";
}

TEST(MergedFront, WhatHardlyDiffersIsOne) {
  const Points front{{1, 100}, {1.004, 99.6}, {1.02, 99}, {1.0201, 50}, {2, 49.9}};
  const auto groups = merged_front(front, 0.005);
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].kept, 0U);
  EXPECT_EQ(groups[0].like, std::vector<std::size_t>{1});
  EXPECT_EQ(groups[2].kept, 3U);
  EXPECT_TRUE(groups[2].like.empty()) << "nearly the same in one objective is not enough";
  EXPECT_EQ(merged_front(front, 0).size(), front.size());
  EXPECT_TRUE(merged_front({}, 0.5).empty());
}

TEST(Knee, IsNearestToTheCorner) {
  EXPECT_EQ(knee_of({{0, 10}, {1, 2}, {10, 0}}), 1U);
  EXPECT_EQ(knee_of({{0, 10}, {9, 2}, {10, 0}}), 1U) << "of ranges that are scaled";
  EXPECT_EQ(knee_of({{0, 1000}, {1, 999}, {2, 0}}), 0U) << "of equal ones the first";
  EXPECT_EQ(knee_of({{0, 10}, {10, 0}}), std::nullopt);
  EXPECT_EQ(knee_of({{0}, {1}, {2}}), std::nullopt);
}

// Samples of groups whose means and spread are known: how often is the true share inside?
TEST(ShareInterval, HoldsTheTrueShareNineTimesInTen) {
  SeededRandom random(5);
  const auto normal = [&] {  // Box and Muller
    const double u = (1.0 + static_cast<double>(random.below(1000000))) / 1000001,
                 v = static_cast<double>(random.below(1000000)) / 1e6;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  };
  constexpr std::size_t groups = 4, each = 6, rounds = 400;
  for (const double apart : {0.5, 1.5}) {
    const std::vector<double> means{-apart, -apart, apart, apart};
    const double truth = apart * apart / (apart * apart + 1);
    std::size_t inside = 0;
    double likely = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      double all = 0, squares = 0, between = 0;
      for (std::size_t g = 0; g < groups; ++g) {
        double sum = 0;
        for (std::size_t i = 0; i < each; ++i) {
          const double value = means[g] + normal();
          sum += value;
          squares += value * value;
        }
        all += sum;
        between += sum * sum / each;
      }
      const double mean = all * all / (groups * each);
      const ShareInterval found = share_interval((between - mean) / (squares - mean), groups, groups * each);
      EXPECT_LE(found.low, found.likely);
      EXPECT_LE(found.likely, found.high);
      inside += found.low <= truth && truth <= found.high;
      likely += found.likely / rounds;
    }
    // Three standard errors of the count are 4.5 %.
    EXPECT_NEAR(static_cast<double>(inside) / rounds, 0.9, 0.045) << truth;
    EXPECT_NEAR(likely, truth, 0.05);
  }
}

TEST(ShareInterval, OfTooFewAndOfMany) {
  EXPECT_EQ(share_interval(0.9, 5, 5).low, 0);
  EXPECT_EQ(share_interval(0.9, 5, 5).high, 1) << "as many groups as samples: nothing is known";
  EXPECT_EQ(share_interval(0.2, 5, 12).low, 0) << "chance alone explains 4 of 11";
  // Where the two ways meet they agree.
  const ShareInterval exact = share_interval(0.4, 4, 2000), limit = share_interval(0.4, 4, 2001);
  EXPECT_NEAR(exact.low, limit.low, 0.005);
  EXPECT_NEAR(exact.high, limit.high, 0.005);
}

// Of latency: a · b with factors by axis. Its logarithm is a sum, so the share of an axis is the variance of its
// factor's logarithm over the sum of those of all.
TEST(Sensitivities, OfAProductAreTheSharesOfItsFactors) {
  const Space space = toy_space();
  const std::vector<std::vector<double>> factors = {{1, 2, 4, 8}, {3, 5, 7}, {1, 1, 1, 1, 1}};
  std::vector<Outcome> outcomes;
  for (Design design = 0; design < 60; ++design) {
    Outcome outcome{.design = design};
    const Choice choice = space.choice(design);
    WorkloadOutcome workload;
    workload.latency_s = factors[0][choice[0]] * factors[1][choice[1]] * factors[2][choice[2]];
    workload.energy_pj = 1;
    outcome.workloads = {workload, workload};
    outcomes.push_back(outcome);
  }
  Outcome failed{.design = 7, .failure = "does not count"};
  outcomes.push_back(failed);
  std::vector<double> variances;
  for (const auto& factor : factors) {
    double mean = 0, variance = 0;
    for (const double f : factor) mean += std::log(f) / static_cast<double>(factor.size());
    for (const double f : factor) variance += std::pow(std::log(f) - mean, 2) / static_cast<double>(factor.size());
    variances.push_back(variance);
  }
  const double all = std::accumulate(variances.begin(), variances.end(), 0.0);
  const auto effects = sensitivities(outcomes, space, {Metric::latency, 0}, {{Metric::latency, 0}});
  ASSERT_EQ(effects.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(effects[i].axis, space.axes[i].name);
    EXPECT_NEAR(effects[i].share, variances[i] / all, 1e-12);
  }
  // Geometric means over the other axes: the cube root of 3 · 5 · 7 remains.
  const auto& lanes = effects[0].values;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(lanes[i].text, space.axes[0].texts[i]);
    EXPECT_EQ(lanes[i].designs, 15U);
    EXPECT_NEAR(lanes[i].mean, factors[0][i] * std::cbrt(105.0), 1e-9);
    EXPECT_EQ(lanes[i].best, factors[0][i] * 3);
    EXPECT_EQ(lanes[i].on_front, i == 0 ? 1U : 0U);
  }
}

TEST(Sensitivities, OfWhatIsConstantAreZero) {
  const Space space = toy_space();
  std::vector<Outcome> outcomes;
  for (Design design = 0; design < 60; ++design) {
    Outcome outcome{.design = design};
    outcome.workloads.resize(2);
    outcome.area_mm2 = 0.1;
    outcomes.push_back(outcome);
  }
  for (const Metric metric : {Metric::area, Metric::latency}) {  // latency is zero, and has no logarithm
    for (const AxisEffect& effect : sensitivities(outcomes, space, {metric}, two)) EXPECT_EQ(effect.share, 0);
  }
  for (const AxisEffect& effect : sensitivities({}, space, {Metric::area}, two)) EXPECT_EQ(effect.share, 0);
}

TEST(Sensitivities, OfUtilizationNameTheLargestAsTheBest) {
  const Space space = toy_space();
  std::vector<Outcome> outcomes = toy_outcomes();
  double best = 0;
  for (const Outcome& outcome : outcomes) {
    if (outcome.ran()) best = std::max(best, metric_of(outcome, space, Metric::utilization, 0));
  }
  double found = 0;
  const auto effects = sensitivities(outcomes, space, {Metric::utilization, 0}, two);
  for (const auto& value : effects[0].values) found = std::max(found, value.best);
  EXPECT_EQ(found, best);
  EXPECT_GT(best, 0);
}

TEST(RankCorrelation, WithoutTiesIsSpearmansFormula) {
  SeededRandom random(2);
  for (int round = 0; round < 50; ++round) {
    const std::size_t n = 2 + random.below(40);
    std::vector<double> a(n), b(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = random.unit();
      b[i] = random.unit();
    }
    const auto rank = [&](const std::vector<double>& v, std::size_t i) {
      return static_cast<double>(std::ranges::count_if(v, [&](double x) { return x < v[i]; }));
    };
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += std::pow(rank(a, i) - rank(b, i), 2);
    const auto m = static_cast<double>(n);
    EXPECT_NEAR(rank_correlation(a, b), 1 - 6 * squares / (m * (m * m - 1)), 1e-12);
  }
}

TEST(RankCorrelation, TiesShareTheirMeanRank) {
  // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: by hand, 4.5 / sqrt(4.5 · 5).
  const std::vector<double> a{1, 5, 5, 9}, b{10, 20, 30, 40};
  EXPECT_NEAR(rank_correlation(a, b), 4.5 / std::sqrt(22.5), 1e-15);
  const std::vector<double> down{4, 3, 2, 1};
  EXPECT_EQ(rank_correlation(b, down), -1);
  EXPECT_EQ(rank_correlation(b, b), 1);
}

TEST(RankCorrelation, IsNoNumberWhereThereIsNone) {
  const std::vector<double> one{1}, flat{2, 2, 2}, three{1, 2, 3};
  EXPECT_TRUE(std::isnan(rank_correlation(one, one)));
  EXPECT_TRUE(std::isnan(rank_correlation(flat, three)));
}

}  // namespace
}  // namespace monet::explore
