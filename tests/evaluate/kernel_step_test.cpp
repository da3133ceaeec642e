// Is an evaluation by kernels the sum of its launches, above its bound, and refused where it has no meaning?
#include "evaluate/run/evaluate_network.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

StepRequest by_kernels() {
  StepRequest how;
  how.machine = "h200";
  how.lowering = "eager";
  how.train.batch = 4;
  return how;
}

TEST(EvaluateKernels, PartsAddUp) {
  const auto result = evaluate_network("resnet18-cifar", by_kernels());
  ASSERT_TRUE(result) << result.error().text();
  double cycles = 0, pj = 0, by_kind = 0, phases = 0;
  for (const OperatorResult& row : result->operators) {
    cycles += row.busy_cycles;
    pj += row.energy_pj;
  }
  for (const auto& [kind, part] : result->latency_by) by_kind += part;
  for (const PhaseResult& phase : result->phases) phases += phase.latency_cycles;
  EXPECT_NEAR(cycles / result->latency_cycles, 1, 1e-9);
  EXPECT_NEAR(by_kind / result->latency_cycles, 1, 1e-9);
  EXPECT_NEAR(phases / result->latency_cycles, 1, 1e-9);
  EXPECT_NEAR(pj / result->energy_pj, 1, 1e-9);
  EXPECT_LT(result->bound_cycles, result->latency_cycles);
  ASSERT_EQ(result->memories.size(), 1U);
  EXPECT_GT(result->memories[0].live_peak_bytes, result->saved_bytes);
}

TEST(EvaluateKernels, WhatHasNoMeaningIsRefused) {
  StepRequest zigzag = by_kernels();
  zigzag.zigzag = true;
  EXPECT_FALSE(evaluate_network("mlp-robotics", zigzag));
  StepRequest other = by_kernels();
  other.lowering = "lazy";
  const auto refused = evaluate_network("mlp-robotics", other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "there is no lowering 'lazy'");
}

}  // namespace
}  // namespace monet
