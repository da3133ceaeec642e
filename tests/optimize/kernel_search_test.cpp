// Searches on a kernel core: are their plans those that evaluating gives, and do they say what they cannot do?
#include "evaluate/run/evaluate_network.h"

#include <monet/checkpoint.h>
#include <monet/fuse.h>
#include <monet/optimize.h>

#include "support/expect_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace monet {
namespace {

CheckpointOptions half_the_memory() {
  CheckpointOptions options;
  options.evaluate.machine = "h100";
  options.evaluate.train.batch = 256;
  options.budgets = {"80%"};
  options.evaluations = 60;
  return options;
}

TEST(SearchOnKernels, ACheckpointedPlanKeepsItsBudgetAndIsWhatEvaluateGives) {
  const auto result = checkpoint_network("resnet18-cifar", half_the_memory(), false);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_TRUE(result->feasible);
  ASSERT_EQ(result->plans.size(), 1U);
  const CheckpointPlan& plan = result->plans.front();
  EXPECT_LE(plan.peak_bytes, result->budget_bytes);
  EXPECT_FALSE(plan.recomputed.empty());
  EXPECT_GT(plan.latency_cycles, result->all_kept.latency_cycles);
  EXPECT_LE(plan.bound_cycles, plan.latency_cycles);
  EXPECT_EQ(result->reach.lowering, "eager");
  StepRequest how = half_the_memory().evaluate;
  how.plan = *plan_from(plan.plan_yaml, "plan.yaml");
  const auto again = evaluate_network("resnet18-cifar", how);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->latency_cycles, plan.latency_cycles);
  EXPECT_EQ(again->energy_pj, plan.energy_pj);
  EXPECT_EQ(again->memories[0].live_peak_bytes, plan.peak_bytes);
}

TEST(SearchOnKernels, OptimizeDecidesAboutMemoryAloneForAnEagerFramework) {
  OptimizeOptions options;
  options.evaluate = half_the_memory().evaluate;
  options.evaluate.lowering = "eager";
  options.budgets = {"90%"};
  options.evaluations = 30;
  const auto result = optimize_network("resnet18-cifar", options);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_FALSE(result->plans.empty());
  for (const OptimizedPlan& plan : result->plans) {
    EXPECT_EQ(plan.stacks, 0);
    EXPECT_EQ(plan.lowering, "eager");
    EXPECT_FALSE(plan.placed);
    EXPECT_LE(plan.peak_bytes, result->budget_bytes);
  }
}

struct StackCase {
  const char* network;
  const char* precision;
  const char* objective;
};

// Eager and compiled plans beside each other, the best no worse than what fusing finds; each is what evaluating gives.
TEST(SearchOnKernels, OptimizeSearchesStacksAndIsNoWorseThanFusing) {
  for (const StackCase& each :
       {StackCase{"resnet18-cifar", "bf16", "latency"}, StackCase{"gpt2-tiny:layers=2,tokens=64", "bf16", "latency"},
        StackCase{"gpt2-tiny:layers=2,tokens=64", "fp32", "energy"}, StackCase{"mlp-robotics", "fp32", "latency"}}) {
    OptimizeOptions options;
    options.evaluate.machine = "h200";
    options.evaluate.train.batch = 8;
    options.evaluate.train.precision = each.precision;
    options.objective = each.objective;
    options.evaluations = 15;
    const auto result = optimize_network(each.network, options);
    ASSERT_TRUE(result) << result.error().text();
    FuseOptions fuse;
    fuse.step = options.evaluate;
    fuse.objective = each.objective;
    const auto fused = fuse_network(each.network, fuse);
    ASSERT_TRUE(fused) << fused.error().text();
    const bool energy = std::string(each.objective) == "energy";
    double best = std::numeric_limits<double>::infinity();
    for (const OptimizedPlan& plan : result->plans) {
      best = std::min(best, energy ? plan.energy_pj : plan.latency_cycles);
      EXPECT_GE(plan.latency_cycles, result->bound_cycles);
      StepRequest how = options.evaluate;
      how.plan = *plan_from(plan.plan_yaml, "plan.yaml");
      const auto again = evaluate_network(each.network, how);
      ASSERT_TRUE(again) << again.error().text();
      EXPECT_EQ(again->latency_cycles, plan.latency_cycles);
      EXPECT_EQ(again->energy_pj, plan.energy_pj);
      EXPECT_EQ(again->memories[0].live_peak_bytes, plan.peak_bytes);
      EXPECT_EQ(again->reach.lowering, plan.lowering);
    }
    EXPECT_LE(best, energy ? fused->energy_pj : fused->latency_cycles) << each.network;
    EXPECT_EQ(result->reach.lowering, result->plans[result->recommended].lowering);
  }
}

// Copies of what is recomputed have stacks of their own, within the budget.
TEST(SearchOnKernels, OptimizeFindsStacksOfARecomputedStep) {
  OptimizeOptions options;
  options.evaluate.machine = "h200";
  options.evaluate.train.batch = 32;
  options.evaluate.train.precision = "bf16";
  options.evaluate.lowering = "compiled";
  options.budgets = {"85%"};
  options.evaluations = 30;
  const auto result = optimize_network("resnet18-cifar", options);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_FALSE(result->plans.empty());
  for (const OptimizedPlan& plan : result->plans) {
    EXPECT_FALSE(plan.recomputed.empty());
    EXPECT_GT(plan.stacks, 0);
    EXPECT_EQ(plan.lowering, "compiled");
    EXPECT_LE(plan.peak_bytes, result->budget_bytes);
    StepRequest how = options.evaluate;
    how.plan = *plan_from(plan.plan_yaml, "plan.yaml");
    const auto again = evaluate_network("resnet18-cifar", how);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->latency_cycles, plan.latency_cycles);
    EXPECT_EQ(again->memories[0].live_peak_bytes, plan.peak_bytes);
  }
}

TEST(SearchOnKernels, WhatNoKernelDoesIsRefused) {
  CheckpointOptions milp = half_the_memory();
  milp.method = "milp";
  const auto program = checkpoint_network("mlp-robotics", milp, false);
  ASSERT_FALSE(program);
  test::expect_error(program.error(), {"the integer program knows no kernels"}, "--method milp");
}

TEST(SearchOnKernels, FusingIsNoSlowerThanOperatorsOneByOne) {
  FuseOptions fuse;
  fuse.step.machine = "h100";
  const auto fused = fuse_network("mlp-robotics", fuse);
  ASSERT_TRUE(fused) << fused.error().text();
  EXPECT_LE(fused->latency_cycles, fused->unfused_cycles * (1 + 1e-9));
  EXPECT_GE(fused->latency_cycles, fused->bound_cycles);
}

}  // namespace
}  // namespace monet
