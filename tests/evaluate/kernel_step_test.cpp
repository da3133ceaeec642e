// A step on a kernel core: is it one without being asked for, the sum of its launches, the same by its plan, and are
// things that kernels do not have refused?
#include "evaluate/run/evaluate_network.h"

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

StepRequest on(const std::string& machine) {
  StepRequest how;
  how.machine = machine;
  how.train.batch = 4;
  return how;
}

Evaluation must_evaluate(const Network& network, const StepRequest& how) {
  auto result = evaluate_network(network, how);
  EXPECT_TRUE(result) << result.error().text();
  return result ? *std::move(result) : Evaluation{};
}

TEST(EvaluateKernels, PartsAddUp) {
  const Evaluation result = must_evaluate("resnet18-cifar", on("h200"));
  double cycles = 0, pj = 0, by_kind = 0, phases = 0;
  for (const OperatorResult& row : result.operators) {
    cycles += row.busy_cycles;
    pj += row.energy_pj;
  }
  for (const auto& [kind, part] : result.latency_by) by_kind += part;
  for (const PhaseResult& phase : result.phases) phases += phase.latency_cycles;
  EXPECT_NEAR(cycles / result.latency_cycles, 1, 1e-9);
  EXPECT_NEAR(by_kind / result.latency_cycles, 1, 1e-9);
  EXPECT_NEAR(phases / result.latency_cycles, 1, 1e-9);
  EXPECT_NEAR(pj / result.energy_pj, 1, 1e-9);
  ASSERT_EQ(result.memories.size(), 1U);
  EXPECT_GT(result.memories[0].live_peak_bytes, result.saved_bytes);
  EXPECT_FALSE(result.checked.empty());
}

TEST(EvaluateKernels, AreTheDefaultOfMachinesThatHaveThem) {
  for (const char* machine : {"h200", "h100", "a100", "jetson_agx_orin"}) {
    const Evaluation plain = must_evaluate("mlp-robotics", on(machine));
    StepRequest eager = on(machine);
    eager.lowering = "eager";
    const Evaluation asked = must_evaluate("mlp-robotics", eager);
    EXPECT_EQ(plain.reach.lowering, "eager") << machine;
    EXPECT_EQ(plain.latency_cycles, asked.latency_cycles) << machine;
    EXPECT_GT(plain.energy_pj, 0) << machine;
    EXPECT_EQ(plain.reach.source.empty(), std::string(machine) != "h200");
    StepRequest nests = on(machine);
    nests.lowering = "nests";
    EXPECT_NE(must_evaluate("mlp-robotics", nests).latency_cycles, plain.latency_cycles) << machine;
  }
  EXPECT_EQ(must_evaluate("mlp-robotics", on("tpu_v4")).reach.lowering, "nests");
}

// The product of a layer at the highest rate that is known of the machine: 67 TFLOP/s of fp32 by its data sheet, more
// than was measured. All others have a bound above 0 too, and keep to it.
TEST(EvaluateKernels, BoundsAreOperationsAtThePeakAndBytesAtTheHighestBandwidth) {
  StepRequest how = on("h100");
  how.train.batch = 512;
  const Evaluation result = must_evaluate("mlp-robotics:inputs=512,hidden=512,layers=1,outputs=512", how);
  double macs = 0;
  for (const OperatorResult& row : result.operators) {
    EXPECT_GT(row.bound_cycles, 0) << row.name;
    EXPECT_LE(row.bound_cycles, row.busy_cycles * (1 + 1e-9)) << row.name;
    macs += row.macs;
  }
  EXPECT_EQ(macs, 5.0 * 512 * 512 * 512);  // two layers forward, their weights, and the input of the second
  EXPECT_NEAR(result.bound_cycles / (2 * macs / 67e12 * 1.83e9), 1, 0.01);
  EXPECT_EQ(result.bound_pj, 0);  // none is known
}

TEST(EvaluateKernels, APlanGivesTheSameBits) {
  StepRequest how = on("h100");
  how.recompute = {"*"};
  const Evaluation first = must_evaluate("resnet18-cifar", how);
  const auto plan = plan_from(first.plan_yaml, "plan.yaml");
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->lowering, "eager");
  StepRequest again = on("h100");
  again.plan = *plan;
  const Evaluation second = must_evaluate("resnet18-cifar", again);
  EXPECT_EQ(first.latency_cycles, second.latency_cycles);
  EXPECT_EQ(first.energy_pj, second.energy_pj);
  EXPECT_EQ(first.memories[0].live_peak_bytes, second.memories[0].live_peak_bytes);
  EXPECT_EQ(first.plan_yaml, second.plan_yaml);
  const Evaluation kept = must_evaluate("resnet18-cifar", on("h100"));
  EXPECT_GT(second.latency_cycles, kept.latency_cycles);
  EXPECT_LT(second.saved_bytes, kept.saved_bytes);
}

TEST(EvaluateKernels, APlanForArraysStaysOne) {
  StepRequest nests = on("h100");
  nests.lowering = "nests";
  const Evaluation first = must_evaluate("mlp-robotics", nests);
  StepRequest again = on("h100");
  again.plan = *plan_from(first.plan_yaml, "plan.yaml");
  EXPECT_EQ(must_evaluate("mlp-robotics", again).latency_cycles, first.latency_cycles);
}

// The recipe rounds what products read, as the units do by themselves: nothing is written, and they are faster.
TEST(EvaluateKernels, ProductsInTf32AreRoundedByTheUnits) {
  const std::string network = "mlp-robotics:inputs=2048,hidden=2048,layers=1,outputs=2048";
  StepRequest plain = on("h200"), recipe = on("h200"), products = on("h200");
  plain.train.batch = recipe.train.batch = products.train.batch = 2048;
  recipe.train.precision = "tf32";
  products.products = "tf32";
  const Evaluation rounded = must_evaluate(network, recipe);
  EXPECT_EQ(rounded.latency_cycles, must_evaluate(network, products).latency_cycles);
  EXPECT_EQ(rounded.tiles, must_evaluate(network, plain).tiles);
  EXPECT_LT(rounded.latency_cycles, 0.5 * must_evaluate(network, plain).latency_cycles);
}

TEST(EvaluateKernels, ABoardDrawsNoMoreThanItsLimit) {
  StepRequest how = on("h200");
  how.train.batch = 4096;
  const Evaluation result = must_evaluate("mlp-robotics:inputs=4096,hidden=4096,layers=3,outputs=4096", how);
  EXPECT_NEAR(result.energy_pj * 1e-12 / result.latency_s, 700, 0.01);
  double pj = 0;
  for (const OperatorResult& row : result.operators) pj += row.energy_pj;
  EXPECT_NEAR(pj / result.energy_pj, 1, 1e-9);
}

TEST(EvaluateKernels, WhatKernelsDoNotHaveIsRefused) {
  const auto refused = [](const StepRequest& how) {
    const auto result = evaluate_network("mlp-robotics", how);
    EXPECT_FALSE(result);
    return result ? Error{} : result.error();
  };
  StepRequest how = on("h200");
  how.lowering = "lazy";
  test::expect_error(refused(how), {"there is no lowering 'lazy'"}, "--lowering");
  how = on("tpu_v4");
  how.lowering = "eager";
  test::expect_error(refused(how), {"no core of tpu_v4 is a graphics processor"}, "--lowering");
  how = on("h200");
  how.zigzag = true;
  how.lowering = "eager";
  test::expect_error(refused(how), {"--zigzag has no meaning on h200"}, "--lowering");
  how = on("h200");
  how.off_chip = true;
  test::expect_error(refused(how), {"--off-chip has no meaning on h200"}, "--lowering");
  how = on("h200");
  how.order = "frugal";
  test::expect_error(refused(how), {"--order has no meaning on h200"}, "--lowering");
  how = on("h100");
  how.train.precision = "fp8-hybrid";
  test::expect_error(refused(how), {"no laws of kernels of h100 are known for fp8"}, "--precision");
  how.train.precision = "int8-everywhere";
  test::expect_error(refused(how), {"no laws of kernels of h100 are known for int8"}, "--precision");
}

TEST(EvaluateKernels, OfAPlanWhatKernelsDoNotDoIsRefused) {
  const auto refused = [](const std::string& text) {
    StepRequest how = on("jetson_agx_orin");
    const auto plan = plan_from("plan: 1\n" + text, "plan.yaml");
    EXPECT_TRUE(plan) << plan.error().text();
    how.plan = *plan;
    const auto result = evaluate_network("mlp-robotics", how);
    EXPECT_FALSE(result) << text;
    return result ? Error{} : result.error();
  };
  test::expect_error(refused("stacks:\n  - [layers.0, relu.0]\n"), {"fuses 'layers.0' with others"}, "plan");
  test::expect_error(refused("operators:\n  layers.0: {tile: {K: 8}}\n"), {"cuts 'layers.0' into tiles"}, "plan");
  test::expect_error(refused("order: frugal\n"), {"asks for the order 'frugal'"}, "plan");
  test::expect_error(refused("lowering: lazy\n"), {"there is no lowering 'lazy'"}, "--lowering");
}

}  // namespace
}  // namespace monet
