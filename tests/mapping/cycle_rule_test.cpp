// Arrays that state their own cycles.
#include "mapping/random_cases.h"
#include "mapping/search.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet {
namespace {

using namespace test;

Target block_array(const std::string& rule) {
  using enum Path;
  Target target = target_with({{8, {Dim::D}}, {8, {Dim::K}}}, 0.1,
                              {{"sram", 1 << 24, 10, 10, {input, weight, output}, 3, 64, 1 << 20}});
  auto parsed = Expression::parse(rule);
  EXPECT_TRUE(parsed);
  target.unit.cycle_rule = *parsed;
  target.unit.precisions = {{"fp8", 4, 1, "fp32"}, {"bf16", 1, 1, "fp32"}};
  return target;
}

TEST(CycleRule, GivesTheCyclesOfTheProduct) {
  const Target target = block_array("ceil(rows / 8) * ceil(columns / 8) * (depth / rate + 1)");
  struct Sizes {
    std::int64_t rows, columns, depth;
  };
  for (auto [rows, columns, depth] :
       {Sizes{8, 8, 64}, Sizes{16, 24, 32}, Sizes{9, 8, 4}, Sizes{1, 1, 128}, Sizes{7, 50, 12}}) {
    for (const char* precision : {"fp8", "bf16"}) {
      Problem problem = matmul(1, rows, columns, depth);
      problem.precision = precision;
      const auto mapped = map_problem(problem, target);
      ASSERT_TRUE(mapped) << mapped.error().text();
      const double rate = precision[0] == 'f' ? 4 : 1;
      const double expected = std::ceil(static_cast<double>(rows) / 8) * std::ceil(static_cast<double>(columns) / 8) *
                              (static_cast<double>(depth) / rate + 1);
      EXPECT_NEAR(mapped->cost.compute_cycles, expected, 1e-9 * expected) << rows << ' ' << columns << ' ' << depth;
      EXPECT_LE(mapped->cost.bound_cycles, mapped->cost.cycles * (1 + 1e-12));
    }
  }
}

TEST(CycleRule, KnowsGroupsAndLoops) {
  const auto cycles = [](const std::string& rule, const Problem& problem) {
    const auto mapped = map_problem(problem, block_array(rule));
    EXPECT_TRUE(mapped) << mapped.error().text();
    return mapped ? mapped->cost.compute_cycles : 0;
  };
  Problem problem = matmul(3, 16, 8, 5);
  problem.precision = "bf16";
  EXPECT_NEAR(cycles("groups * rows * columns * depth", problem), 3 * 16 * 8 * 5, 1e-9);
  EXPECT_NEAR(cycles("B * 1000 + C", problem), 3005, 1e-9);
}

TEST(CycleRule, ThatGivesNoTimeIsAReasonNotToMap) {
  Problem problem = matmul(1, 16, 8, 5);
  problem.precision = "bf16";
  for (const char* rule : {"1 / (depth - depth)", "rows - 100", "0 / (depth - depth)"}) {
    const auto mapped = map_problem(problem, block_array(rule));
    ASSERT_FALSE(mapped) << rule;
    EXPECT_NE(mapped.error().message.find("cycle rule"), std::string::npos) << mapped.error().message;
  }
}

// 8 x 8 MACs that do `rate` products in a cycle: what is left of them where a block takes one cycle more.
TEST(CycleRule, UtilizationIsTheDepthOverOneCycleMore) {
  const Target target = block_array("ceil(rows / 8) * ceil(columns / 8) * (depth / rate + 1)");
  for (const auto& [precision, rate] : {std::pair{"bf16", 1.0}, {"fp8", 4.0}}) {
    for (const std::int64_t depth : {8, 64, 1024}) {
      Problem problem = matmul(1, 16, 16, depth);
      problem.precision = precision;
      const auto mapped = map_problem(problem, target);
      ASSERT_TRUE(mapped);
      const double steps = static_cast<double>(depth) / rate;
      const double macs_per_cycle = mapped->cost.macs / mapped->cost.compute_cycles;
      EXPECT_NEAR(macs_per_cycle / (64 * rate), steps / (steps + 1), 1e-12) << precision << ' ' << depth;
    }
  }
}

// Four steps in a cycle need four times as much in it: that is no reason to wait while the port is wide enough.
TEST(CycleRule, WhatSeveralStepsOfACycleNeedComesTogether) {
  for (const auto& [port_bits, factor] : {std::pair{256, 1.0}, {128, 2.0}}) {
    using enum Path;
    Target target = target_with({{8, {Dim::D}}, {8, {Dim::K}}}, 0.1,
                                {{"sram", 1 << 24, 10, 10, {input, weight, output}, 3, 8, port_bits}});
    target.unit.cycle_rule = *Expression::parse("ceil(rows / 8) * ceil(columns / 8) * depth / rate");
    target.unit.precisions = {{"fp8", 4, 1, "fp32"}};
    // Each operand at a port of its own.
    for (TargetMemory& memory : target.memories) {
      const Port port = memory.ports[0];
      memory.ports = {port, port, port};
      for (Port& each : memory.ports) each.kind = PortKind::read_write;
      for (std::size_t path = 0; path < path_count; ++path) memory.port[path].fill(static_cast<std::int8_t>(path));
    }
    Problem problem = matmul(1, 8, 8, 4096);  // 8 elements of 8 bits of each factor a step: 256 bits in a cycle of four
    problem.precision = "fp8";
    for (ProblemOperand& operand : problem.operands) operand.bits = 8;
    const auto mapped = map_problem(problem, target);
    ASSERT_TRUE(mapped) << mapped.error().text();
    EXPECT_NEAR(mapped->cost.compute_cycles, 1024, 1e-9);
    EXPECT_NEAR(mapped->cost.cycles / (1024 * factor), 1, 0.03) << port_bits;  // and the results
  }
}

TEST(CycleRule, EveryCycleCostsItsEnergy) {
  Target target = block_array("ceil(rows / 8) * ceil(columns / 8) * (depth / rate + 1)");
  target.effects.energy_by_precision = true;
  target.unit.energy_pj_per_cycle = 200;
  target.unit.precisions = {{"fp8", 4, 1.5, "fp32"}, {"bf16", 1, 1, "fp32"}};
  target.unit.energy_pj[static_cast<std::size_t>(Count::mac)] = 0.25;
  Problem problem = matmul(1, 9, 8, 64);  // two blocks, one of a single row
  problem.precision = "fp8";
  const auto mapped = map_problem(problem, target);
  ASSERT_TRUE(mapped);
  EXPECT_NEAR(mapped->cost.compute_pj, 1.5 * (2 * (64 / 4 + 1) * 200 + 9 * 8 * 64 * 0.25), 1e-9);
  EXPECT_LE(mapped->cost.bound_pj, mapped->cost.energy_pj);
}

TEST(CycleRule, IsOfProductsOnly) {
  Problem problem = broadcast_add(16, 8);
  problem.per_point = {};
  problem.per_point[Count::add] = 1;
  problem.precision = "bf16";
  const auto mapped = map_problem(problem, block_array("rows * 1000000"));
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->cost.compute_cycles, 16 * 8 / 64);  // all 8 x 8 lanes add
}

}  // namespace
}  // namespace monet
