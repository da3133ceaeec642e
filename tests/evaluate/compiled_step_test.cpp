// Does a compiled step give itself again from its plan, and are plans refused that no compiler can carry out?
#include "evaluate/run/evaluate_network.h"

#include <monet/plan.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using testing::HasSubstr;

StepRequest by_compiler(const std::string& lowering = "compiled") {
  StepRequest how;
  how.machine = "h200";
  how.lowering = lowering;
  how.train.batch = 4;
  return how;
}

Plan plan_with(std::vector<std::vector<std::string>> stacks) {
  Plan plan;
  for (std::vector<std::string>& names : stacks) plan.stacks.emplace_back().operators = std::move(names);
  return plan;
}

std::string error_of(const StepRequest& how) {
  const auto result = evaluate_network("mlp-robotics", how);
  return result ? "" : result.error().message;
}

TEST(CompiledStep, ItsPlanGivesTheSameBits) {
  for (const char* network : {"resnet18-cifar", "gpt2-tiny:layers=2,tokens=64", "mlp-robotics"}) {
    const auto first = evaluate_network(network, by_compiler());
    ASSERT_TRUE(first) << first.error().text();
    StepRequest again = by_compiler();
    auto plan = plan_from(first->plan_yaml, "plan");
    ASSERT_TRUE(plan) << plan.error().text();
    EXPECT_EQ(plan->stacks.empty(), std::string(network) == "mlp-robotics") << network;  // products with a relu between
    again.plan = *std::move(plan);
    const auto second = evaluate_network(network, again);
    ASSERT_TRUE(second) << second.error().text();
    EXPECT_EQ(second->latency_cycles, first->latency_cycles) << network;
    EXPECT_EQ(second->energy_pj, first->energy_pj) << network;
    EXPECT_EQ(second->memories[0].live_peak_bytes, first->memories[0].live_peak_bytes) << network;
    EXPECT_EQ(second->plan_yaml, first->plan_yaml) << network;
  }
}

// What many kernels compute each for itself is there for them, wherever the operator itself runs.
TEST(CompiledStep, BlocksThatAreRecomputedPassTheChecker) {
  for (const char* network : {"bert-base:layers=2,tokens=32", "vit-cifar", "resnet18-cifar"}) {
    StepRequest how = by_compiler();
    how.recompute = {"blocks"};
    const auto first = evaluate_network(network, how);
    ASSERT_TRUE(first) << network << ": " << first.error().text();
    StepRequest again = by_compiler();
    again.plan = *plan_from(first->plan_yaml, "plan");
    const auto second = evaluate_network(network, again);
    ASSERT_TRUE(second) << second.error().text();
    EXPECT_EQ(second->latency_cycles, first->latency_cycles) << network;
    EXPECT_EQ(second->energy_pj, first->energy_pj) << network;
  }
}

// The bias of a convolution is an operator of its own, and in mixed precision it is rounded after the convolution
// began.
TEST(CompiledStep, ABiasThatIsRoundedPassesTheChecker) {
  StepRequest how = by_compiler();
  how.train.precision = "mixed";
  for (const char* network : {"vit-cifar", "lenet5"}) {
    const auto result = evaluate_network(network, how);
    EXPECT_TRUE(result) << network << ": " << result.error().text();
  }
}

TEST(CompiledStep, PartsAddUpAboveTheBound) {
  const auto result = evaluate_network("resnet18-cifar", by_compiler());
  ASSERT_TRUE(result) << result.error().text();
  double cycles = 0;
  for (const OperatorResult& row : result->operators) cycles += row.busy_cycles;
  EXPECT_NEAR(cycles / result->latency_cycles, 1, 1e-9);
  EXPECT_LT(result->bound_cycles, result->latency_cycles);
}

TEST(CompiledStep, RecomputesWhatIsAskedFor) {
  const auto kept = evaluate_network("resnet18-cifar", by_compiler());
  StepRequest less = by_compiler();
  less.recompute = {"blocks"};
  const auto recomputed = evaluate_network("resnet18-cifar", less);
  ASSERT_TRUE(kept && recomputed);
  EXPECT_LT(recomputed->saved_bytes, kept->saved_bytes);
  EXPECT_GT(recomputed->latency_cycles, kept->latency_cycles);
}

TEST(CompiledStepErrors, PlansThatNoCompilerCanCarryOut) {
  const auto names = evaluate_network("mlp-robotics", by_compiler());
  ASSERT_TRUE(names);
  std::string product, other;
  for (const OperatorResult& row : names->operators) {
    const bool multiplies = row.op == "Gemm" || row.op == "MatMul";
    if (product.empty() && multiplies) product = row.name;
    if (other.empty() && !multiplies) other = row.name;
  }
  StepRequest how = by_compiler();
  how.plan = plan_with({{"nobody", product}});
  EXPECT_THAT(error_of(how), HasSubstr("there is no operator 'nobody'"));
  how.plan = plan_with({{product}, {product}});
  EXPECT_THAT(error_of(how), HasSubstr("is in two stacks"));
  how = by_compiler("eager");
  how.plan = plan_with({{product, other}});
  EXPECT_THAT(error_of(how), HasSubstr("with others, which kernels of"));
  how = by_compiler();
  how.plan.graph_hash = std::string(32, '0');
  EXPECT_NE(error_of(how), "");
}

}  // namespace
}  // namespace monet
