// Are the plans of a joint search all sound, within the budget, and none of them worse than another?
#include "optimize/joint/joint.h"

#include "evaluate/open/hardware.h"
#include "optimize/memory_case.h"
#include "support/in_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace monet {
namespace {

using namespace test;

class JointCase {
 public:
  explicit JointCase(Hardware hardware = *open_hardware("monet_2x2", {})) : hardware_(std::move(hardware)) {
    how_.cost.search.factors = 3;
    options_.memory = home();
    options_.rounds = 1;
    options_.evaluations = 15;
    options_.budgets = 2;
    options_.rules.limit = 2;
    options_.population = 6;
    options_.generations = 2;
    options_.jobs = 2;
  }

  JointResult found(const Plan& plan = {}) {
    const auto decided = bind_tensors(plan, graph_, hardware_);
    EXPECT_TRUE(decided.has_value());
    auto result = optimize_jointly(graph_, hardware_, cache_, how_, plan, *decided, options_);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
    return *std::move(result);
  }

  // Each again, by a pricer that knows nothing of the search.
  void expect_sound(const JointResult& result) {
    Pricer pricer(graph_, hardware_, cache_, how_);
    std::vector<std::array<double, 3>> points;
    for (const JointPlan& plan : result.front) {
      const auto priced = pricer.price(plan.plan);
      ASSERT_TRUE(priced.has_value()) << priced.error().text();
      EXPECT_EQ(priced->price.cycles, plan.price.cycles);
      EXPECT_EQ(priced->price.energy_pj, plan.price.energy_pj);
      EXPECT_TRUE(pricer.check(*priced).has_value());
      const auto peak = pricer.packed_peak(*priced, options_.memory);
      ASSERT_TRUE(peak.has_value());
      EXPECT_EQ(*peak, plan.peak_bytes);
      EXPECT_LE(plan.peak_bytes, options_.budget_bytes);
      EXPECT_LE(plan.price.cycles, options_.deadline_cycles);
      EXPECT_GE(plan.peak_bytes, result.least_bytes);
      points.push_back({plan.price.cycles, plan.price.energy_pj, static_cast<double>(plan.peak_bytes)});
    }
    EXPECT_TRUE(std::ranges::is_sorted(points));
    for (const auto& a : points) {
      for (const auto& b : points) EXPECT_FALSE(dominates(a, b));
    }
  }

  MemoryId home() const {
    const RoutedMachine machine(hardware_);
    for (std::size_t m = 0; m < hardware_.memories.size(); ++m) {
      if (machine.is_home(MemoryId(m))) return MemoryId(m);
    }
    return {};
  }

  Graph graph_ = in_bytes(training_step_of("mlp-robotics:inputs=16,hidden=16,outputs=4,layers=2", 128));
  Hardware hardware_;
  MappingCache cache_;
  EvaluatorOptions how_;
  JointOptions options_;
};

double best(const JointResult& result, SearchObjective objective) {
  double least = std::numeric_limits<double>::infinity();
  for (const JointPlan& plan : result.front) least = std::min(least, value_of(plan.price, objective));
  return least;
}

TEST(Joint, TheFrontIsSoundAndNeverWorseThanTheStart) {
  JointCase example;
  for (const SearchObjective objective : {SearchObjective::latency, SearchObjective::energy, SearchObjective::edp}) {
    example.options_.objective = objective;
    const JointResult result = example.found();
    EXPECT_TRUE(result.complete);
    EXPECT_GT(result.evaluated, 10U);
    example.expect_sound(result);
    EXPECT_LE(best(result, objective), value_of(result.start.price, objective));
    EXPECT_LE(result.least_bytes, result.start.peak_bytes);
  }
}

TEST(Joint, NoTwoPlansHardlyDiffer) {
  JointCase example;
  const JointResult result = example.found();
  ASSERT_GT(result.front.size(), 1U);
  for (const JointPlan& a : result.front) {
    for (const JointPlan& b : result.front) {
      if (&a == &b) continue;
      const auto hardly_better = [](double better, double other) { return better >= other * (1 - 1e-3) - 1e-9; };
      EXPECT_FALSE(hardly_better(a.price.cycles, b.price.cycles) &&
                   hardly_better(a.price.energy_pj, b.price.energy_pj) &&
                   hardly_better(static_cast<double>(a.peak_bytes), static_cast<double>(b.peak_bytes)))
          << a.price.cycles << " and " << b.price.cycles << " cycles";
    }
  }
}

TEST(Joint, KeepsToBudgetAndDeadline) {
  JointCase example(one_memory_machine(true));
  const JointResult without = example.found();
  ASSERT_LT(without.least_bytes, without.start.peak_bytes);
  example.options_.budget_bytes = (without.least_bytes + without.start.peak_bytes) / 2;
  const JointResult within = example.found();
  ASSERT_FALSE(within.front.empty());
  example.expect_sound(within);
  example.options_.deadline_cycles = 1.2 * without.start.price.cycles;
  example.expect_sound(example.found());
  example.options_.budget_bytes = 1;
  const JointResult none = example.found();
  EXPECT_TRUE(none.front.empty());
  EXPECT_GT(none.least_bytes, 1);
}

TEST(Joint, EachPartCanBeLeftOut) {
  JointCase example;
  example.options_.fuse = false;
  example.options_.place = false;
  for (const JointPlan& plan : example.found().front) {
    EXPECT_FALSE(plan.fused || plan.placed);
    EXPECT_TRUE(plan.plan.stacks.empty() && plan.plan.operators.empty());
  }
  example.options_.decide = false;
  const JointResult nothing = example.found();
  ASSERT_EQ(nothing.front.size(), 1U);
  EXPECT_EQ(nothing.front[0].price.cycles, nothing.start.price.cycles);
  example.options_.fuse = true;
  for (const JointPlan& plan : example.found().front) EXPECT_TRUE(plan.plan.tensors.empty());
}

TEST(Joint, KeepsToThePlanGiven) {
  JointCase example;
  Plan plan;
  plan.order = PlanOrder::graph;
  plan.operators.push_back({.name = "layers.0", .cores = {"pe1_1"}});
  plan.tensors.push_back({.name = "relu.0.out", .retention = Retention::recompute});
  const JointResult result = example.found(plan);
  example.expect_sound(result);
  for (const JointPlan& found : result.front) {
    EXPECT_EQ(found.plan.order, PlanOrder::graph);
    EXPECT_TRUE(std::ranges::any_of(found.plan.operators, [](const PlannedOperator& op) {
      return op.name == "layers.0" && op.cores == std::vector<std::string>{"pe1_1"};
    }));
    EXPECT_TRUE(std::ranges::any_of(found.plan.tensors, [](const PlannedTensor& tensor) {
      return tensor.name == "relu.0.out" && tensor.retention == Retention::recompute;
    }));
  }
}

TEST(Joint, StoppedAtOnceItGivesTheStart) {
  JointCase example;
  example.options_.stop = [] { return true; };
  const JointResult result = example.found();
  EXPECT_FALSE(result.complete);
  ASSERT_EQ(result.front.size(), 1U);
  EXPECT_EQ(result.front[0].price.cycles, result.start.price.cycles);
}

TEST(Joint, IsTheSameForAnyNumberOfThreads) {
  std::vector<std::vector<std::array<double, 3>>> answers;
  for (const std::size_t jobs : {1, 2}) {
    JointCase example;
    example.options_.jobs = jobs;
    auto& points = answers.emplace_back();
    for (const JointPlan& plan : example.found().front) {
      points.push_back({plan.price.cycles, plan.price.energy_pj, static_cast<double>(plan.peak_bytes)});
    }
  }
  EXPECT_EQ(answers[0], answers[1]);
}

}  // namespace
}  // namespace monet
