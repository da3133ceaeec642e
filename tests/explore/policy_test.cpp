// Plans by policy: no worse than the standard, within the budget, the same on any thread, and clear when there is none.
#include "explore/price/policy.h"

#include "evaluate/open/hardware.h"
#include "optimize/memory_case.h"
#include "support/expect_error.h"
#include "support/in_bytes.h"

#include <monet/plan.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace monet::explore {
namespace {

using ::testing::HasSubstr;

class PolicyCase {
 public:
  explicit PolicyCase(Hardware hardware, Graph step = test::training_step_of("mlp-robotics:hidden=32,layers=2", 32))
      : hardware_(std::move(hardware)), step_(test::in_numbers_of(hardware_, std::move(step))) {
    how_.cost.search.factors = 3;
  }

  Expected<Plan> plan(const Policy& policy) { return plan_by(policy, step_, hardware_, cache_, how_); }

  // What a plan comes to, by a pricer of its own.
  struct Result {
    Price price;
    std::int64_t peak_bytes = 0;
  };
  Result price(const Plan& plan) {
    Pricer pricer(step_, hardware_, cache_, how_);
    const auto priced = pricer.price(plan);
    EXPECT_TRUE(priced.has_value()) << (priced ? "" : priced.error().text());
    if (!priced) return {};
    EXPECT_TRUE(pricer.check(*priced).has_value());
    const auto peak = pricer.packed_peak(*priced, home());
    EXPECT_TRUE(peak.has_value());
    return {.price = priced->price, .peak_bytes = peak ? *peak : -1};
  }

  MemoryId home() const {
    const RoutedMachine machine(hardware_);
    for (std::size_t m = 0; m < hardware_.memories.size(); ++m) {
      if (machine.is_home(MemoryId(m))) return MemoryId(m);
    }
    return {};
  }

  Hardware hardware_;
  Graph step_;
  MappingCache cache_;
  EvaluatorOptions how_;
};

Hardware machine(const char* name) {
  auto hardware = open_hardware(name, {});
  EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
  return *std::move(hardware);
}

TEST(Policy, StandardSaysNothing) {
  PolicyCase example(machine("edge_tpu"));
  const auto plan = example.plan({});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(to_yaml(*plan), to_yaml(Plan()));
}

class FusedPolicy : public ::testing::TestWithParam<std::tuple<const char*, const char*, bool>> {};

TEST_P(FusedPolicy, IsNoWorseThanTheStandard) {
  const auto [name, objective, improve] = GetParam();
  PolicyCase example(machine(name));
  const auto plan = example.plan({.kind = PolicyKind::fused, .objective = objective, .limit = 4, .improve = improve});
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  const SearchObjective value = *search_objective(objective);
  EXPECT_LE(value_of(example.price(*plan).price, value), value_of(example.price(Plan{}).price, value) * (1 + 1e-12));
  for (const PlannedStack& stack : plan->stacks) EXPECT_LE(stack.operators.size(), 4U);
}

INSTANTIATE_TEST_SUITE_P(Policies, FusedPolicy,
                         ::testing::Combine(::testing::Values("edge_tpu", "monet_2x2"),
                                            ::testing::Values("latency", "energy", "edp"), ::testing::Bool()));

TEST(Policy, StacksSaveTime) {
  PolicyCase example(machine("eyeriss_like_quad_core"), test::training_step_of("resnet18-cifar-folded", 1));
  const auto plan = example.plan({.kind = PolicyKind::fused, .limit = 2});
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  EXPECT_FALSE(plan->stacks.empty());
  EXPECT_LT(example.price(*plan).price.cycles, example.price(Plan{}).price.cycles);
}

class CheckpointedPolicy : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(CheckpointedPolicy, KeepsTheBudgetWhenPricedAgain) {
  const auto [budget, storage] = GetParam();
  // Large batches: what is saved is most of what is needed.
  PolicyCase example(test::one_memory_machine(storage), test::training_step_of("mlp-robotics:hidden=64,layers=6", 256));
  const std::int64_t without = example.price(Plan{}).peak_bytes;
  const auto plan = example.plan({.kind = PolicyKind::checkpointed, .budget = budget});
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  const double share = std::stod(budget) / 100;
  EXPECT_LE(static_cast<double>(example.price(*plan).peak_bytes), share * static_cast<double>(without));
}

INSTANTIATE_TEST_SUITE_P(Budgets, CheckpointedPolicy,
                         ::testing::Combine(::testing::Values("95%", "85%"), ::testing::Bool()));

TEST(Policy, TensorsAreDroppedWhereTheOrderAloneIsNotEnough) {
  for (const bool storage : {false, true}) {
    PolicyCase example(test::one_memory_machine(storage),
                       test::training_step_of("mlp-robotics:hidden=64,layers=6", 256));
    const std::int64_t budget = example.price(Plan{.order = PlanOrder::frugal}).peak_bytes - 1;
    const auto plan = example.plan({.kind = PolicyKind::checkpointed, .budget = std::to_string(budget)});
    ASSERT_TRUE(plan.has_value()) << plan.error().text();
    EXPECT_FALSE(plan->tensors.empty());
    EXPECT_LE(example.price(*plan).peak_bytes, budget);
  }
}

TEST(Policy, WithoutABudgetItIsWhatTheMemoryHolds) {
  PolicyCase example(test::one_memory_machine(false));
  const auto plan = example.plan({.kind = PolicyKind::checkpointed, .evaluations = 10});
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  // It fits as it is, and computing again takes time.
  EXPECT_EQ(example.price(*plan).price.cycles, example.price(Plan{}).price.cycles);
}

TEST(Policy, ABudgetAboveWhatTheMemoryHoldsIsThat) {
  PolicyCase example(test::one_memory_machine(true), test::training_step_of("mlp-robotics:hidden=32,layers=2", 256));
  const std::int64_t without = example.price(Plan{}).peak_bytes;
  example.hardware_.memories[example.home().index()].size_bits = 8 * (without * 9 / 10);
  const auto plan = example.plan({.kind = PolicyKind::checkpointed, .budget = "200%"});
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  EXPECT_LE(example.price(*plan).peak_bytes, without * 9 / 10);
}

TEST(Policy, WhatDoesNotFitSaysTheLeastWhichDoes) {
  PolicyCase example(test::one_memory_machine(false), test::training_step_of("mlp-robotics:hidden=32,layers=2", 256));
  const auto plan = example.plan({.kind = PolicyKind::checkpointed, .budget = "1KiB"});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().kind, ErrorKind::infeasible);
  EXPECT_EQ(plan.error().place, "the policy's budget");
  const std::string& message = plan.error().message;
  EXPECT_THAT(message, HasSubstr("1 KiB of ram do not suffice: the least that was found is "));
  const std::size_t bytes = message.rfind('(') + 1;
  const auto least = example.plan(
      {.kind = PolicyKind::checkpointed, .budget = message.substr(bytes, message.find(' ', bytes) - bytes)});
  EXPECT_TRUE(least.has_value()) << least.error().text();
}

TEST(Policy, MistakesAreNamed) {
  PolicyCase example(machine("edge_tpu"));
  const auto fails = [&](const Policy& policy, const std::vector<std::string>& words, const std::string& place) {
    const auto plan = example.plan(policy);
    ASSERT_FALSE(plan.has_value());
    test::expect_error(plan.error(), words, place);
  };
  fails({.kind = PolicyKind::fused, .objective = "speed"}, {"speed"}, "objective");
  fails({.kind = PolicyKind::fused, .limit = 0}, {"0 operators"}, "the policy's limit");
  fails({.kind = PolicyKind::fused, .limit = 17}, {"17 operators"}, "the policy's limit");
  fails({.kind = PolicyKind::checkpointed, .budget = "much"}, {"much"}, "the policy's budget");
  fails({.kind = PolicyKind::checkpointed, .budget = "dramm=1MiB"}, {"no memory 'dramm'"}, "the policy's budget");
  Hardware& hardware = example.hardware_;
  const RoutedMachine cores(hardware);
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    if (cores.is_home(MemoryId(m)) || hardware.memories[m].kind == MemoryKind::storage) continue;
    fails({.kind = PolicyKind::checkpointed, .budget = hardware.memories[m].name + "=1MiB"},
          {"not for the memory that the step's data are in"}, "the policy's budget");
    break;
  }
}

TEST(Policy, KernelsHaveTheStacksOfTheirCompilerOrNone) {
  PolicyCase gpu(machine("h100"));
  gpu.how_.lowering = "compiled";
  const auto compiled = gpu.plan({.kind = PolicyKind::fused});
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_TRUE(is_empty(*compiled));
  gpu.how_.lowering = "eager";
  const auto eager = gpu.plan({.kind = PolicyKind::fused});
  ASSERT_FALSE(eager);
  test::expect_error(eager.error(), {"runs each operator on h100 by itself"}, "the policy", "lowering: compiled");
}

TEST(Policy, ThreadsGiveWhatOneGives) {
  const std::vector<Policy> policies{
      {.kind = PolicyKind::fused, .limit = 4},
      {.kind = PolicyKind::fused, .objective = "edp", .limit = 3, .improve = true},
      {.kind = PolicyKind::checkpointed, .budget = "90%", .evaluations = 30},
      {.kind = PolicyKind::checkpointed, .objective = "energy", .budget = "95%", .evaluations = 30}};
  const auto make = [] {
    return PolicyCase(test::one_memory_machine(true), test::training_step_of("mlp-robotics:hidden=32,layers=2", 64));
  };
  PolicyCase alone = make();
  std::vector<std::string> expected;
  for (const Policy& policy : policies) {
    const auto plan = alone.plan(policy);
    ASSERT_TRUE(plan.has_value()) << plan.error().text();
    expected.push_back(to_yaml(*plan));
  }
  PolicyCase together = make();  // one cache for all
  std::vector<std::string> found(2 * policies.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] {
      if (const auto plan = together.plan(policies[i % policies.size()])) found[i] = to_yaml(*plan);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i % policies.size()]) << i;
}

}  // namespace
}  // namespace monet::explore
