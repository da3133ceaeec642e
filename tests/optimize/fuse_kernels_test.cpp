// Are stacks on a graphics processor no worse than the compiler's own, and than none?
#include "evaluate/run/evaluate_network.h"

#include <monet/fuse.h>
#include <monet/plan.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using testing::HasSubstr;

StepRequest on_h200(const std::string& lowering) {
  StepRequest how;
  how.machine = "h200";
  how.lowering = lowering;
  how.train.batch = 4;
  return how;
}

TEST(FuseKernels, IsNoWorseThanThePolicyOrEager) {
  for (const char* network : {"resnet18-cifar", "gpt2-tiny:layers=2,tokens=64"}) {
    FuseOptions options;
    options.step = on_h200("");
    const auto fused = fuse_network(network, options);
    ASSERT_TRUE(fused) << fused.error().text();
    const auto eager = evaluate_network(network, on_h200("eager"));
    const auto policy = evaluate_network(network, on_h200("compiled"));
    ASSERT_TRUE(eager && policy);
    EXPECT_LE(fused->latency_cycles, eager->latency_cycles) << network;
    EXPECT_LE(fused->latency_cycles, policy->latency_cycles) << network;
    EXPECT_LE(fused->bound_cycles, fused->latency_cycles) << network;
    StepRequest again = on_h200(fused->unchanged ? "eager" : "compiled");
    auto plan = plan_from(fused->plan_yaml, "plan");
    ASSERT_TRUE(plan) << plan.error().text();
    again.plan = *std::move(plan);
    const auto evaluated = evaluate_network(network, again);
    ASSERT_TRUE(evaluated) << evaluated.error().text();
    EXPECT_EQ(evaluated->latency_cycles, fused->latency_cycles) << network;
  }
}

TEST(FuseKernels, NumbersOfOperatorsAreRefused) {
  FuseOptions options;
  options.step = on_h200("");
  options.stacks = {{0, 1}};
  const auto fused = fuse_network("mlp-robotics", options);
  ASSERT_FALSE(fused);
  EXPECT_THAT(fused.error().message, HasSubstr("for machines of arrays"));
}

}  // namespace
}  // namespace monet
