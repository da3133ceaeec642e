// Fronts, sweeps, the least and the integer program against all plans there are.
#include "optimize/memory/fronts.h"
#include "optimize/memory/least.h"
#include "optimize/memory/milp.h"
#include "optimize/memory/sweep.h"
#include "optimize/memory_case.h"
#include "support/expect_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace monet {
namespace {

using Objectives = std::vector<double>;

// Addresses are in whole units of 64 bytes: a plan that is live within a budget may need a little more packed.
constexpr std::int64_t packing_slack = 4096;

class MemoryFronts : public ::testing::Test {
 protected:
  MemoryFronts() : case_(test::training_step_of("mlp-robotics", 8), test::one_memory_machine(true)) {
    auto points = price_all(*case_.prices_, {});
    EXPECT_TRUE(points.has_value()) << (points ? "" : points.error().text());
    points_ = *std::move(points);
    for (const ExactPoint& point : points_) {
      if (point.peak_bytes < 0) continue;
      least_ = std::min(least_, point.peak_bytes);
      most_ = std::max(most_, point.peak_bytes);
    }
  }

  std::int64_t between(double share) const {
    return least_ + static_cast<std::int64_t>(share * static_cast<double>(most_ - least_)) + packing_slack;
  }

  // Of all plans, with addresses: pair by pair.
  std::set<Objectives> front_by_hand(const MemoryGoal& goal, MemoryMeasure measure) {
    std::vector<Objectives> all;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (points_[i].peak_bytes < 0) continue;
      const Genome genome = genome_at(case_.space_->choices(), i);
      const MemoryPrice& price = **case_.prices_->price_exactly(genome);
      if (price.peak_bytes <= goal.budget_bytes && price.price.cycles <= goal.deadline_cycles) {
        all.push_back(objectives(genome, measure));
      }
    }
    std::set<Objectives> front;
    for (const Objectives& each : all) {
      if (std::ranges::none_of(all, [&](const Objectives& other) { return dominates(other, each); }))
        front.insert(each);
    }
    return front;
  }

  Objectives objectives(const Genome& genome, MemoryMeasure measure) {
    const MemoryPrice& price = **case_.prices_->price_exactly(genome);
    const std::int64_t bytes = measure == MemoryMeasure::saved ? case_.space_->kept_bytes(genome) : price.peak_bytes;
    return {static_cast<double>(bytes), price.price.cycles, price.price.energy_pj};
  }

  std::set<Objectives> objectives_of(const std::vector<Genome>& front, MemoryMeasure measure) {
    std::set<Objectives> result;
    for (const Genome& genome : front) result.insert(objectives(genome, measure));
    EXPECT_EQ(result.size(), front.size()) << "a point is there twice";
    return result;
  }

  test::MemoryCase case_;
  std::vector<ExactPoint> points_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max(), most_ = 0;
};

TEST_F(MemoryFronts, ExactIsTheFrontOfAllPlans) {
  // By saved bytes addresses change nothing, so that every point is the same.
  for (const double share : {0.3, 0.6, 1.0}) {
    const MemoryGoal goal{.budget_bytes = between(share)};
    const auto front = exact_front(*case_.prices_, points_, goal, MemoryMeasure::saved);
    ASSERT_TRUE(front.has_value()) << front.error().text();
    EXPECT_EQ(objectives_of(*front, MemoryMeasure::saved), front_by_hand(goal, MemoryMeasure::saved)) << share;
  }
}

TEST_F(MemoryFronts, NoPointIsBetterThanAnotherAndAllKeepTheGoal) {
  const double slowest = (*case_.prices_->price_exactly(case_.space_->all_kept()))->price.cycles * 1.05;
  const MemoryGoal goal{.budget_bytes = between(0.7), .deadline_cycles = slowest};
  const auto exact = exact_front(*case_.prices_, points_, goal, MemoryMeasure::peak);
  const auto genetic = genetic_front(*case_.prices_, goal, MemoryMeasure::peak, {.population = 16, .generations = 5});
  for (const auto* front : {&exact, &genetic}) {
    ASSERT_TRUE(front->has_value());
    EXPECT_FALSE((*front)->empty());
    const std::set<Objectives> points = objectives_of(**front, MemoryMeasure::peak);
    for (const Objectives& each : points) {
      EXPECT_LE(each[0], static_cast<double>(goal.budget_bytes));
      EXPECT_LE(each[1], goal.deadline_cycles);
      EXPECT_TRUE(std::ranges::none_of(points, [&](const Objectives& other) { return dominates(other, each); }));
    }
  }
}

TEST_F(MemoryFronts, TheGeneticFrontIsThatOfAllPlansOnceItHasSeenThem) {
  std::vector<Genome> all;
  for (std::size_t i = 0; i < points_.size(); ++i) all.push_back(genome_at(case_.space_->choices(), i));
  ASSERT_TRUE(case_.prices_->price(all).has_value());
  const MemoryGoal goal{.budget_bytes = between(0.5)};
  const auto front = genetic_front(*case_.prices_, goal, MemoryMeasure::saved, {.population = 8, .generations = 1});
  ASSERT_TRUE(front.has_value()) << front.error().text();
  EXPECT_EQ(objectives_of(*front, MemoryMeasure::saved), front_by_hand(goal, MemoryMeasure::saved));
}

TEST_F(MemoryFronts, NothingIsWithinABudgetOfNothing) {
  const MemoryGoal goal{.budget_bytes = 1};
  const auto exact = exact_front(*case_.prices_, points_, goal, MemoryMeasure::peak);
  const auto genetic = genetic_front(*case_.prices_, goal, MemoryMeasure::peak, {.population = 8, .generations = 2});
  ASSERT_TRUE(exact.has_value() && genetic.has_value());
  EXPECT_TRUE(exact->empty());
  EXPECT_TRUE(genetic->empty());
}

TEST_F(MemoryFronts, ASweepHasNoPlanThatMoreMemoryMakesWorse) {
  case_.restart();
  std::vector<std::pair<std::size_t, std::size_t>> told;
  const SweepOptions options{.most_bytes = most_ + packing_slack,
                             .least_bytes = least_ + packing_slack,
                             .step_bytes = static_cast<double>(most_ - least_) / 4,
                             .search = {.evaluations = 200},
                             .progress = [&](std::size_t done, std::size_t all) { told.emplace_back(done, all); }};
  const auto plans = sweep_budgets(*case_.prices_, {}, options);
  ASSERT_TRUE(plans.has_value()) << plans.error().text();
  ASSERT_EQ(plans->size(), 5U);  // four steps, and the least
  EXPECT_EQ(plans->front().budget_bytes, options.least_bytes);
  EXPECT_EQ(plans->back().budget_bytes, options.most_bytes);
  EXPECT_EQ(told.back(), std::pair(std::size_t{5}, std::size_t{5}));
  double before = std::numeric_limits<double>::infinity();
  for (const BudgetPlan& plan : *plans) {
    const MemoryPrice& price = **case_.prices_->price_exactly(plan.genome);
    EXPECT_LE(price.peak_bytes, plan.budget_bytes);
    EXPECT_LE(price.price.cycles, before);
    before = price.price.cycles;
  }
}

TEST_F(MemoryFronts, TheLeastIsEnoughAsABudget) {
  const MemorySearchOptions search{.evaluations = 300};
  const MemoryGoal impossible{.budget_bytes = 1};
  case_.restart();
  const auto last = try_the_least(*case_.prices_, impossible, search);
  ASSERT_TRUE(last.has_value()) << last.error().text();
  EXPECT_FALSE(last->best.has_value());
  EXPECT_GT(last->priced, 0U);
  EXPECT_GE(last->least.peak_bytes, least_);
  EXPECT_LE(last->least.peak_bytes, least_ + packing_slack);
  ASSERT_FALSE(last->least.forced_by.empty());
  EXPECT_LE(last->least.forced_by.size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(last->least.forced_by, std::ranges::greater{},
                                     &std::pair<std::string, std::int64_t>::second));
  // Nothing is known, but the least is found again.
  case_.restart();
  const MemoryGoal enough{.budget_bytes = last->least.peak_bytes};
  const auto again = try_the_least(*case_.prices_, enough, search);
  ASSERT_TRUE(again.has_value());
  ASSERT_TRUE(again->best.has_value());
  EXPECT_LE((*case_.prices_->price_exactly(*again->best))->peak_bytes, enough.budget_bytes);
}

TEST_F(MemoryFronts, TheProgramKeepsAllWhereAllFitsAndHasNoSolutionWhereNothingDoes) {
  Pricer pricer(case_.graph_, case_.hardware_, case_.cache_, case_.how_);
  const auto priced = pricer.price(case_.plan_);
  ASSERT_TRUE(priced.has_value());
  const auto decide = [&](std::int64_t budget) {
    return decide_by_program(*priced, case_.prices_->input(), {.budget_bytes = budget},
                             {.moves = {.recompute = true, .page = false}});
  };
  const auto much = decide(std::numeric_limits<std::int64_t>::max() / 2);
  ASSERT_TRUE(much.has_value()) << much.error().text();
  ASSERT_TRUE(much->genome.has_value());
  EXPECT_TRUE(much->proven);
  EXPECT_GT(much->variables, 0U);
  EXPECT_EQ(case_.space_->dropped_bytes(*much->genome), 0);  // running again takes time
  const auto nothing = decide(1);
  ASSERT_TRUE(nothing.has_value());
  EXPECT_FALSE(nothing->genome.has_value());
}

TEST(MemoryProgram, TooLargeIsRefused) {
  test::MemoryCase example(test::training_step_of("gpt2", 1), test::one_memory_machine(false));
  Pricer pricer(example.graph_, example.hardware_, example.cache_, example.how_);
  const auto priced = pricer.price(example.plan_);
  ASSERT_TRUE(priced.has_value());
  const auto decision = decide_by_program(*priced, example.prices_->input(), {.budget_bytes = 1 << 20},
                                          {.moves = {.recompute = true, .page = true}});
  ASSERT_FALSE(decision.has_value());
  test::expect_error(decision.error(), {"variables, more than 400000"}, "--method milp");
}

}  // namespace
}  // namespace monet
