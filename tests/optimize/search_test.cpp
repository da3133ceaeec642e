// Searches as values: do they look at the step, the machine and the plan they are given, and at nothing else of these?
#include <monet/search.h>

#include <gtest/gtest.h>

namespace monet {
namespace {

Step small_step() {
  return {.network = "mlp-robotics", .options = {.batch = 4, .optimizer = "sgd"}, .inference = false};
}

StepRequest request_of(const Step& step) {
  StepRequest request;
  request.train = step.options;
  request.machine = "monet_2x2";
  return request;
}

TEST(Search, FuseGivesWhatTheCommandGives) {
  FuseOptions options;
  options.effort = 0.01;
  options.step.train.batch = 64;  // is not looked at
  options.step.machine = "no such machine";
  const auto found = fuse(small_step(), "monet_2x2", {}, options);
  ASSERT_TRUE(found) << found.error().text();
  options.step = request_of(small_step());
  const auto expected = fuse_network("mlp-robotics", options);
  ASSERT_TRUE(expected) << expected.error().text();
  EXPECT_EQ(found->plan_yaml, expected->plan_yaml);
  EXPECT_EQ(found->latency_cycles, expected->latency_cycles);
}

TEST(Search, PlansAreThoseThatEvaluateGivesTheSameNumbersFor) {
  const Step step = small_step();
  CheckpointOptions how;
  how.budgets = {"95%"};
  how.evaluations = 20;
  const auto found = checkpoint(step, "raspberry_pi_4", {}, how);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_FALSE(found->plans.empty());
  const auto plan = plan_from(found->plans.front().plan_yaml, "plan");
  ASSERT_TRUE(plan) << plan.error().text();
  const auto again = evaluate(step, "raspberry_pi_4", *plan);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->latency_cycles, found->plans.front().latency_cycles);
}

TEST(Search, ThePlanIsKeptTo) {
  OptimizeOptions how;
  how.fuse = how.place = false;
  how.evaluations = 5;
  how.rounds = 1;
  how.reorder = how.recompute = how.page = false;
  Plan plan;
  plan.order = PlanOrder::graph;
  const auto found = optimize(small_step(), "monet_2x2", plan, how);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->start.order, "graph");
}

}  // namespace
}  // namespace monet
