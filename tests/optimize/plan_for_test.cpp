// Can a plan carried over to a step that recomputes something always be carried out, and does it say of copies what it
// said of the originals?
#include "optimize/pricing/plan_for.h"

#include "evaluate/random_evaluation.h"
#include "optimize/memory_case.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace monet {
namespace {

using namespace test;

Plan mended(const Plan& plan, const Graph& step, const std::vector<std::string>& recomputed) {
  std::vector<TensorId> tensors;
  for (const std::string& name : recomputed) tensors.push_back(tensor_named(step, name));
  const auto after = training::recompute(step, tensors);
  EXPECT_TRUE(after.has_value());
  return plan_for(plan, step, *after, Dependencies(after->graph));
}

TEST(PlanFor, RandomPlansBindAndKeepAllRules) {
  std::size_t carried_out = 0, changed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const auto step = random_step(random);
    const auto hardware = read_hardware_text(RandomHardware(random).make(), "random.yaml");
    if (!step || !hardware) continue;
    const Plan plan = RandomPlan(random, *step, *hardware).make();
    std::vector<TensorId> tensors;
    for (const training::SavedCandidate& saved : training::saved_candidates(*step)) {
      if (saved.reason.empty() && random.chance(0.5)) tensors.push_back(saved.tensor);
    }
    const auto after = training::recompute(*step, tensors);
    ASSERT_TRUE(after.has_value()) << seed;
    MappingCache cache;
    Evaluator evaluator(after->graph, *hardware, cache, quick_options());
    const Plan carried = plan_for(plan, *step, *after, evaluator.dependencies());
    changed += carried.stacks.size() != plan.stacks.size() ? 1 : 0;
    const auto request = evaluator.bind(carried);
    if (!request) {  // a pattern of which nothing is left that it suits
      EXPECT_NE(request.error().kind, ErrorKind::defect) << seed << ": " << request.error().text();
      continue;
    }
    const auto result = evaluator.evaluate(*request);
    if (!result) {  // a machine that cannot run it at all
      EXPECT_NE(result.error().kind, ErrorKind::defect) << seed << ": " << result.error().text();
      continue;
    }
    ++carried_out;
    const CheckReport report = check(evaluator, *result);
    EXPECT_EQ(report.count, 0U) << seed << ": " << report.violations.front().what;
  }
  EXPECT_GT(carried_out, 20U);
  EXPECT_GT(changed, 5U);
}

TEST(PlanFor, CopiesOfAStackFormAStackWithTheSameTiles) {
  const Graph step = training_step_of("mlp-robotics:hidden=16", 8);
  Plan plan;
  plan.stacks.push_back({.name = "s", .operators = {"layers.1", "relu.1"}, .tile = {{Dim::B, 4}}});
  plan.operators.push_back({.name = "relu.1", .priority = 3.0});
  plan.operators.push_back({.name = "layers.*", .priority = 2.0});
  const Plan carried = mended(plan, step, {"relu.1.out"});
  ASSERT_EQ(carried.stacks.size(), 2U);
  EXPECT_EQ(carried.stacks[0].operators, (std::vector<std::string>{"layers.1", "relu.1"}));
  EXPECT_EQ(carried.stacks[1].operators, (std::vector<std::string>{"layers.1~1", "relu.1~1"}));
  EXPECT_EQ(carried.stacks[0].tile, carried.stacks[1].tile);
  EXPECT_NE(carried.stacks[0].name, carried.stacks[1].name);
  std::multiset<std::string> spoken_of;
  for (const PlannedOperator& op : carried.operators) spoken_of.insert(op.name);
  EXPECT_EQ(spoken_of, (std::multiset<std::string>{"relu.1", "relu.1~1", "layers.*"}));  // a pattern holds for copies
}

TEST(PlanFor, WhatAPlanSaysOfCopiesByNameHolds) {
  const Graph step = training_step_of("mlp-robotics:hidden=16", 8);
  Plan plan;
  plan.stacks.push_back({.operators = {"layers.1~1", "relu.1~1"}, .tile = {{Dim::B, 2}}});
  plan.stacks.push_back({.operators = {"layers.1", "relu.1"}, .tile = {{Dim::B, 4}}});
  const Plan carried = mended(plan, step, {"relu.1.out"});
  ASSERT_EQ(carried.stacks.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(carried.stacks[i].operators, plan.stacks[i].operators);
    EXPECT_EQ(carried.stacks[i].tile, plan.stacks[i].tile);
  }
}

TEST(PlanFor, StacksThatWouldWaitForThemselvesAreTakenApart) {
  const Graph step = training_step_of("mlp-robotics:hidden=16", 8);
  Plan plan;
  plan.stacks.push_back({.operators = {"relu.0", "relu.2.grad.ReluGrad"}});
  const Plan carried = mended(plan, step, {"relu.0.out"});
  EXPECT_TRUE(carried.stacks.empty());  // the rest of the forward part lies between the two
}

TEST(PlanFor, OperatorsThatAreGoneAreLeftOut) {
  const Graph step = training_step_of("mlp-robotics:hidden=16", 8);
  Plan plan;
  plan.stacks.push_back({.operators = {"layers.1", "no.such"}});
  plan.operators.push_back({.name = "no.such", .priority = 1.0});
  const Plan carried = mended(plan, step, {"relu.1.out"});
  EXPECT_TRUE(carried.stacks.empty());  // one operator without tiles is no stack
  EXPECT_TRUE(carried.operators.empty());
}

}  // namespace
}  // namespace monet
