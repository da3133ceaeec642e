// Objectives of the user's own: asked as promised, and what they call best is found.
#include "optimize/pricing/plan_value.h"

#include "optimize/joint/joint.h"
#include "optimize/memory/fronts.h"
#include "optimize/memory_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet {
namespace {

TEST(PlanValue, NamesItsObjective) {
  const Price price{.cycles = 3, .energy_pj = 5, .peak_bytes = {}};
  EXPECT_EQ(PlanValue(SearchObjective::latency)(price, 7), 3);
  EXPECT_EQ(PlanValue(SearchObjective::energy)(price, 7), 5);
  EXPECT_EQ(PlanValue(SearchObjective::edp)(price, 7), 15);
  EXPECT_FALSE(PlanValue().is_function());
}

TEST(PlanValue, AsksWithWhatAPlanCosts) {
  PlanMetrics asked;
  const PlanValue value(
      [&](const PlanMetrics& metrics) {
        asked = metrics;
        return 42;
      },
      2e9);
  EXPECT_TRUE(value.is_function());
  EXPECT_EQ(value({.cycles = 3, .energy_pj = 5, .peak_bytes = {}}, 7), 42);
  EXPECT_EQ(asked.latency_cycles, 3);
  EXPECT_EQ(asked.latency_s, 1.5e-9);
  EXPECT_EQ(asked.energy_pj, 5);
  EXPECT_EQ(asked.peak_bytes, 7);
  EXPECT_EQ(value.of_parts(), SearchObjective::edp);
}

TEST(PlanValue, AsksOnceForEqualMetricsAndItsCopiesToo) {
  int asked = 0;
  const PlanValue value([&](const PlanMetrics&) { return ++asked; }, 0);
  const PlanValue copy = value;
  const Price price{.cycles = 3, .energy_pj = 5, .peak_bytes = {}};
  EXPECT_EQ(value(price, 7), 1);
  EXPECT_EQ(copy(price, 7), 1);
  EXPECT_EQ(copy(price, 8), 2);
  EXPECT_EQ(asked, 2);
}

TEST(PlanValue, CountsWhatIsNoNumberAsInfinite) {
  const PlanValue value([](const PlanMetrics&) { return std::nan(""); }, 0);
  EXPECT_EQ(value({.cycles = 1, .energy_pj = 1, .peak_bytes = {}}, 0), std::numeric_limits<double>::infinity());
}

// Not one that grows with latency or energy: as near as can be to a given time.
class OwnObjective : public ::testing::Test {
 protected:
  OwnObjective() : case_(test::training_step_of("mlp-robotics", 8), test::one_memory_machine(true)) {
    auto points = price_all(*case_.prices_, {});
    EXPECT_TRUE(points.has_value()) << (points ? "" : points.error().text());
    points_ = *std::move(points);
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const ExactPoint& point : points_) {
      if (point.peak_bytes < 0) continue;
      least = std::min(least, point.cycles);
      most = std::max(most, point.cycles);
    }
    aim_ = least + (most - least) / 3;
    for (const ExactPoint& point : points_) {
      if (point.peak_bytes >= 0) best_ = std::min(best_, distance(point.cycles));
    }
  }

  double distance(double cycles) const { return std::abs(cycles - aim_); }
  MemoryGoal goal() const {
    return {.objective = PlanValue([this](const PlanMetrics& m) { return distance(m.latency_cycles); }, 0)};
  }

  test::MemoryCase case_;
  std::vector<ExactPoint> points_;
  double aim_ = 0;
  double best_ = std::numeric_limits<double>::infinity();  // of all plans there are
};

TEST_F(OwnObjective, TheFrontHasTheBestOfAllPlans) {
  const auto front = exact_front(*case_.prices_, points_, goal(), MemoryMeasure::peak);
  ASSERT_TRUE(front.has_value()) << front.error().text();
  double found = std::numeric_limits<double>::infinity();
  for (const Genome& genome : *front) {
    found = std::min(found, distance((*case_.prices_->price_exactly(genome))->price.cycles));
  }
  EXPECT_EQ(found, best_);
}

TEST_F(OwnObjective, TheFrontIsOfMemoryAndTheObjective) {
  const auto front = exact_front(*case_.prices_, points_, goal(), MemoryMeasure::peak);
  ASSERT_TRUE(front.has_value()) << front.error().text();
  std::vector<std::pair<double, double>> values;
  for (const Genome& genome : *front) {
    const MemoryPrice& price = **case_.prices_->price_exactly(genome);
    values.emplace_back(static_cast<double>(price.peak_bytes), distance(price.price.cycles));
  }
  std::ranges::sort(values);
  for (std::size_t i = 1; i < values.size(); ++i) EXPECT_LT(values[i].second, values[i - 1].second);
}

TEST_F(OwnObjective, SearchFindsTheBestOfAllPlansGivenEnoughOfThem) {
  const auto answer = MemorySearch(*case_.prices_, {.evaluations = 4 * points_.size()}).search(goal());
  ASSERT_TRUE(answer.has_value()) << answer.error().text();
  EXPECT_TRUE(answer->feasible);
  EXPECT_EQ(distance((*case_.prices_->price_exactly(answer->genome))->price.cycles), best_);
}

TEST_F(OwnObjective, OfATaskInManyPartsTheBestPlanIsKept) {
  JointOptions options{.objective = goal().objective, .memory = case_.home(), .rounds = 1, .evaluations = 40};
  options.plans = 3;
  const auto found =
      optimize_jointly(case_.graph_, case_.hardware_, case_.cache_, case_.how_, case_.plan_, {}, options);
  ASSERT_TRUE(found.has_value()) << found.error().text();
  ASSERT_FALSE(found->front.empty());
  double best = std::numeric_limits<double>::infinity();
  for (const JointPlan& plan : found->front) best = std::min(best, distance(plan.price.cycles));
  EXPECT_LE(best, distance(found->start.price.cycles));
}

TEST_F(OwnObjective, TheAnswerIsTheSameForAnyNumberOfThreads) {
  std::vector<std::vector<double>> values;
  for (const std::size_t jobs : {1, 3}) {
    MappingCache cache;
    JointOptions options{.objective = goal().objective, .memory = case_.home(), .evaluations = 20, .jobs = jobs};
    const auto found = optimize_jointly(case_.graph_, case_.hardware_, cache, case_.how_, case_.plan_, {}, options);
    ASSERT_TRUE(found.has_value()) << found.error().text();
    values.emplace_back();
    for (const JointPlan& plan : found->front) values.back().push_back(plan.price.cycles);
  }
  EXPECT_EQ(values[0], values[1]);
}

}  // namespace
}  // namespace monet
