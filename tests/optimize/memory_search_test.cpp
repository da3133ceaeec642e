// The search against all plans there are.
#include "evaluate/addresses/addresses.h"
#include "optimize/memory/bound.h"
#include "optimize/memory_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace monet {
namespace {

using namespace test;

// The best value of all plans within a budget of live bytes; infinite: none.
double best_of(const std::vector<ExactPoint>& points, std::int64_t budget, SearchObjective objective) {
  double best = std::numeric_limits<double>::infinity();
  for (const ExactPoint& point : points) {
    if (point.peak_bytes < 0 || point.peak_bytes > budget) continue;
    best = std::min(best, value_of({.cycles = point.cycles, .energy_pj = point.energy_pj}, objective));
  }
  return best;
}

std::vector<std::int64_t> budgets_of(const std::vector<ExactPoint>& points) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
  for (const ExactPoint& point : points) {
    if (point.peak_bytes < 0) continue;
    least = std::min(least, point.peak_bytes);
    most = std::max(most, point.peak_bytes);
  }
  std::vector<std::int64_t> budgets;
  for (int i = 0; i <= 8; ++i) budgets.push_back(least + (most - least) * i / 8);
  return budgets;
}

// Addresses are in whole units of 64 bytes: a plan that is live within a budget may need a little more packed.
constexpr std::int64_t slack = 4096;

class MemorySearchCase : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(MemorySearchCase, FindsTheBestOfAllPlansForEveryBudget) {
  const auto [model, storage] = GetParam();
  MemoryCase example(training_step_of(model, 8), one_memory_machine(storage));
  ASSERT_LE(plans_in(example.space_->choices()), 20000) << "too many to look at all";
  const auto points = price_all(*example.prices_, {});
  ASSERT_TRUE(points.has_value()) << points.error().text();
  for (const SearchObjective objective : {SearchObjective::latency, SearchObjective::energy, SearchObjective::edp}) {
    double before = 0;
    std::vector<std::int64_t> budgets = budgets_of(*points);
    std::ranges::reverse(budgets);
    for (const std::int64_t budget : budgets) {
      example.restart();
      MemorySearch search(*example.prices_, {.evaluations = 3000});
      const MemoryGoal goal{.objective = objective, .budget_bytes = budget + slack};
      const auto answer = search.search(goal);
      ASSERT_TRUE(answer.has_value()) << answer.error().text();
      ASSERT_TRUE(answer->feasible) << model << " " << budget;
      const MemoryPrice& price = example.prices_->known().at(answer->genome);
      EXPECT_TRUE(price.packed);
      EXPECT_LE(price.peak_bytes, budget + slack);
      const double value = value_of(price.price, objective);
      // Packed within the budget: no better than the best that is live within it, no worse than the best of less.
      EXPECT_GE(value, best_of(*points, budget + slack, objective) * (1 - 1e-12)) << model << " " << budget;
      EXPECT_LE(value, best_of(*points, budget, objective) * (1 + 1e-12)) << model << " " << budget;
      EXPECT_GE(value, before * (1 - 1e-12)) << "less memory was better";
      before = value;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, MemorySearchCase,
                         ::testing::Values(std::tuple("mlp-robotics", false), std::tuple("mlp-robotics", true)));

TEST(MemorySearch, EveryCombinationOfTechniquesIsNoBetterThanAllPlans) {
  MemoryCase example(training_step_of("mlp-robotics", 8), one_memory_machine(true));
  const auto points = price_all(*example.prices_, {});
  ASSERT_TRUE(points.has_value());
  const std::vector<std::int64_t> budgets = budgets_of(*points);
  for (int techniques = 0; techniques < 8; ++techniques) {
    example.restart();
    MemorySearch search(*example.prices_, {.evaluations = 3000,
                                           .seeds = (techniques & 1) != 0,
                                           .prune = (techniques & 2) != 0,
                                           .improve = (techniques & 4) != 0});
    const MemoryGoal goal{.objective = SearchObjective::latency, .budget_bytes = budgets[3] + slack};
    const auto answer = search.search(goal);
    ASSERT_TRUE(answer.has_value());
    if (!answer->feasible) continue;
    const double value = example.prices_->known().at(answer->genome).price.cycles;
    EXPECT_GE(value, best_of(*points, budgets[3] + slack, SearchObjective::latency) * (1 - 1e-12)) << techniques;
    // With improvement all of them end at the best.
    if ((techniques & 4) != 0) {
      EXPECT_LE(value, best_of(*points, budgets[3], SearchObjective::latency) * (1 + 1e-12)) << techniques;
    }
  }
}

TEST(MemorySearch, TheLeastMemoryIsTheLeastOfAllPlans) {
  MemoryCase example(training_step_of("mlp-robotics", 8), one_memory_machine(false));
  const auto points = price_all(*example.prices_, {});
  ASSERT_TRUE(points.has_value());
  MemorySearch search(*example.prices_, {.evaluations = 3000});
  const auto answer = search.search({.least_memory = true});
  ASSERT_TRUE(answer.has_value());
  EXPECT_LE(example.prices_->known().at(answer->genome).peak_bytes, budgets_of(*points).front() + slack);
}

TEST(MemorySearch, NothingIsBelowTheBound) {
  for (const bool storage : {false, true}) {
    MemoryCase example(training_step_of("mlp-robotics", 512), one_memory_machine(storage));
    const auto points = price_all(*example.prices_, {});
    ASSERT_TRUE(points.has_value());
    Pricer pricer(example.graph_, example.hardware_, example.cache_, example.how_);
    const auto priced = pricer.price(example.plan_, {});
    ASSERT_TRUE(priced.has_value());
    std::vector<OperatorBound> operators;
    for (std::size_t n = 0; n < example.graph_.nodes().size(); ++n) {
      operators.push_back(priced->variant->evaluator.costs().bound(NodeId(n)));
    }
    const auto bound_for = [&](std::int64_t budget) {
      return memory_bound(priced->scheduled(example.hardware_), example.machine_, operators, *example.space_,
                          example.home(), budget);
    };
    const MemoryBound without = bound_for(std::numeric_limits<std::int64_t>::max() / 2);
    std::vector<std::int64_t> budgets = budgets_of(*points);
    budgets.push_back(without.together_bytes - 1000);
    for (const std::int64_t budget : budgets) {
      const MemoryBound bound = bound_for(budget);
      EXPECT_LE(bound.cycles, best_of(*points, budget, SearchObjective::latency) * (1 + 1e-9));
      EXPECT_LE(bound.energy_pj, best_of(*points, budget, SearchObjective::energy) * (1 + 1e-9));
    }
    // What must be dropped costs something.
    EXPECT_GT(bound_for(without.together_bytes - 1000).energy_pj, without.energy_pj);
  }
}

TEST(MemorySearch, IsTheSameForAnyNumberOfThreads) {
  MemoryCase example(training_step_of("mlp-robotics", 4), one_memory_machine(true));
  const std::int64_t budget = 2 << 20;
  std::vector<Genome> answers;
  for (const std::size_t jobs : {1, 3}) {
    example.restart(jobs);
    MemorySearch search(*example.prices_, {.evaluations = 200});
    const auto answer = search.search({.budget_bytes = budget});
    ASSERT_TRUE(answer.has_value());
    answers.push_back(answer->genome);
  }
  EXPECT_EQ(answers[0], answers[1]);
}

}  // namespace
}  // namespace monet
