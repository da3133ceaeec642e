// Does an operation cost what its table says, and what scaling and composition make of it?
#include "hardware/derive/costs.h"
#include "hardware/derive/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace monet {
namespace {

using testing::HasSubstr;

double pj(Count kind, const char* precision, double node, const char* accumulate = "") {
  const auto cost = operation_pj(kind, precision, accumulate, node);
  EXPECT_TRUE(cost.has_value()) << precision << " at " << node;
  return cost ? cost->value : 0;
}

TEST(OperationCosts, PublishedAdditionsAndMultiplications) {
  struct Row {
    const char* precision;
    double node, add, multiply;
    char confidence;
  };
  for (const Row& row :
       {Row{"int8", 45, 0.03, 0.2, 'A'}, Row{"int32", 45, 0.1, 3.1, 'A'}, Row{"fp16", 45, 0.4, 1.1, 'A'},
        Row{"fp32", 45, 0.9, 3.7, 'A'}, Row{"int8", 7, 0.007, 0.07, 'A'}, Row{"int32", 7, 0.03, 1.48, 'A'},
        Row{"bf16", 7, 0.11, 0.21, 'C'}, Row{"fp16", 7, 0.16, 0.34, 'C'}, Row{"fp32", 7, 0.38, 1.31, 'A'}}) {
    EXPECT_DOUBLE_EQ(pj(Count::add, row.precision, row.node), row.add);
    EXPECT_DOUBLE_EQ(pj(Count::multiply, row.precision, row.node), row.multiply);
    EXPECT_EQ(operation_pj(Count::add, row.precision, "", row.node)->confidence, row.confidence);
  }
  EXPECT_EQ(operation_pj(Count::add, "fp32", "", 45)->source, "Horowitz, ISSCC 2014");
  EXPECT_THAT(operation_pj(Count::add, "fp32", "", 7)->source, HasSubstr("Jouppi et al., ISCA 2021"));
}

TEST(LaneAreas, AreThoseOfAMultiplierAndAnAdder) {
  const auto um2 = [](const char* precision, const char* accumulate, double node) {
    const auto area = lane_um2(true, true, precision, accumulate, node);
    EXPECT_TRUE(area.has_value()) << precision;
    return area ? area->value : 0;
  };
  // Horowitz, ISSCC 2014, at 45 nm.
  EXPECT_DOUBLE_EQ(um2("int8", "int16", 45), 282 + 67);
  EXPECT_DOUBLE_EQ(um2("int8", "int32", 45), 282 + 137);
  EXPECT_DOUBLE_EQ(um2("fp16", "fp32", 45), 1640 + 4184);
  EXPECT_DOUBLE_EQ(um2("fp32", "", 45), 7700 + 4184);
  // Jouppi et al.: a product in bf16 takes 0.21 / 0.34 of one in fp16.
  EXPECT_NEAR(um2("bf16", "fp32", 45), 1640 * 0.21 / 0.34 + 4184, 1e-9);
  // Stillmaker and Baas: 7 nm has 0.059 of the area of 45 nm.
  EXPECT_NEAR(um2("fp16", "fp32", 7), 0.059 * (1640 + 4184), 1e-9);
  EXPECT_DOUBLE_EQ(lane_um2(false, true, "fp32", "", 45)->value, 4184);
  EXPECT_FALSE(lane_um2(true, true, "mx9", "", 45).has_value());
  EXPECT_THAT(lane_um2(true, true, "fp32", "", 22)->source, HasSubstr("Horowitz"));
  EXPECT_THAT(lane_um2(true, true, "fp32", "", 22)->source, HasSubstr("scaled to 22 nm"));
}

TEST(OperationCosts, AMacIsAMultiplicationAndAnAddition) {
  EXPECT_NEAR(pj(Count::mac, "int8", 45, "int32"), 0.3, 1e-12);
  EXPECT_NEAR(pj(Count::mac, "fp16", 45), 1.5, 1e-12);
  EXPECT_NEAR(pj(Count::mac, "fp16", 45, "fp32"), 2.0, 1e-12);
  EXPECT_NEAR(pj(Count::mac, "fp32", 45), 4.6, 1e-12);
  EXPECT_NEAR(pj(Count::mac, "int8", 7, "int32"), 0.1, 1e-12);
  EXPECT_NEAR(pj(Count::mac, "bf16", 7, "fp32"), 0.59, 1e-12);
  EXPECT_NEAR(pj(Count::mac, "fp16", 7, "fp32"), 0.72, 1e-12);
  EXPECT_NEAR(pj(Count::mac, "fp32", 7), 1.69, 1e-12);
  EXPECT_EQ(operation_pj(Count::mac, "fp32", "", 45)->confidence, 'D');
}

TEST(OperationCosts, OtherNodesAreScaledFromOneFamily) {
  // a2 V^2 + a1 V + a0 at 0.9 V, of 65 nm and 45 nm.
  const double at65 = 3.755 * 0.81 - 4.398 * 0.9 + 1.975, at45 = 1.103 * 0.81 - 0.362 * 0.9 + 0.2767;
  EXPECT_NEAR(pj(Count::mac, "fp32", 65), 4.6 * at65 / at45, 1e-9);
  // and at 0.8 V, of 10 nm and 7 nm.
  const double at10 = 0.2068 * 0.64 - 0.09311 * 0.8 + 0.02375, at7 = 0.1776 * 0.64 - 0.09097 * 0.8 + 0.02447;
  EXPECT_NEAR(pj(Count::mac, "fp32", 10), 1.69 * at10 / at7, 1e-9);
  EXPECT_NEAR(pj(Count::add, "fp32", 3), 0.38 * std::sqrt(3.0 / 7), 1e-9);
  const auto cost = operation_pj(Count::add, "fp32", "", 22);
  EXPECT_EQ(cost->confidence, 'D');
  EXPECT_THAT(cost->source, HasSubstr("Horowitz"));
  EXPECT_THAT(cost->source, HasSubstr("scaled to 22 nm by Stillmaker and Baas 2017"));
  // From one node down to the next within a family energy falls; between families it need not.
  for (const double node : {16.0, 20.0, 22.0, 28.0, 32.0, 45.0, 65.0})
    EXPECT_LT(pj(Count::mac, "fp32", node), pj(Count::mac, "fp32", node * 1.2));
}

TEST(OperationCosts, WhatAFamilyLacksIsARatioWithinAnother) {
  EXPECT_NEAR(pj(Count::multiply, "bf16", 45), 3.7 * 0.21 / 1.31, 1e-12);
  EXPECT_NEAR(pj(Count::add, "bf16", 45), 0.9 * 0.11 / 0.38, 1e-12);
  EXPECT_NEAR(pj(Count::add, "int16", 7), 0.03 * 0.05 / 0.1, 1e-12);
  EXPECT_NEAR(pj(Count::multiply, "fp8", 7), 0.45 * 0.21, 1e-12);
  EXPECT_NEAR(pj(Count::mac, "tf32", 7), 0.34 + 0.38, 1e-12);
  // Narrower is cheaper, at every node.
  for (const double node : {4.0, 7.0, 16.0, 22.0, 45.0, 65.0}) {
    EXPECT_LT(pj(Count::mac, "fp8", node, "fp32"), pj(Count::mac, "bf16", node, "fp32"));
    EXPECT_LT(pj(Count::mac, "bf16", node, "fp32"), pj(Count::mac, "fp16", node, "fp32"));
    EXPECT_LT(pj(Count::mac, "fp16", node, "fp32"), pj(Count::mac, "fp32", node));
    EXPECT_LT(pj(Count::mac, "int8", node, "int32"), pj(Count::mac, "fp8", node, "fp32"));
  }
}

TEST(OperationCosts, FunctionsInMacs) {
  // FuseMax artifact, fp16 at 45 nm: MAC 17.1645 pJ, division 36.251153 pJ, exponential 94.6475 pJ.
  EXPECT_NEAR(pj(Count::exp, "fp16", 45), 1.5 * 94.6475 / 17.1645, 1e-9);
  EXPECT_NEAR(pj(Count::divide, "fp32", 45), 4.6 * 36.251153 / 17.1645, 1e-9);
  EXPECT_EQ(pj(Count::sqrt, "fp32", 7), pj(Count::divide, "fp32", 7));
  EXPECT_EQ(pj(Count::log, "fp32", 7), pj(Count::exp, "fp32", 7));
  EXPECT_NEAR(pj(Count::power, "fp32", 7), 2 * pj(Count::exp, "fp32", 7) + 1.31, 1e-9);
  EXPECT_NEAR(pj(Count::tanh, "fp32", 7), pj(Count::exp, "fp32", 7) + pj(Count::divide, "fp32", 7) + 2 * 0.38, 1e-9);
  EXPECT_NEAR(pj(Count::erf, "fp32", 7),
              pj(Count::exp, "fp32", 7) + pj(Count::divide, "fp32", 7) + 6 * 1.69 + 2 * 1.31 + 0.38, 1e-9);
  // Aladdin: comparator 0.02947 pJ, adder 0.21 pJ, both of 32 bit.
  EXPECT_NEAR(pj(Count::compare, "fp32", 45), 0.1 * 0.02947 / 0.21, 1e-12);
  EXPECT_NEAR(pj(Count::compare, "int8", 7), 0.007 * 0.02947 / 0.21, 1e-12);
  EXPECT_NEAR(pj(Count::random, "fp16", 45), 5 * 3.1 + 15 * 0.1, 1e-9);
  EXPECT_EQ(operation_pj(Count::exp, "fp32", "", 45)->confidence, 'D');
}

TEST(OperationCosts, NothingWhereNoTableKnows) {
  EXPECT_FALSE(operation_pj(Count::mac, "int4", "int32", 22));
  EXPECT_FALSE(operation_pj(Count::mac, "mxfp8", "fp32", 22));
  EXPECT_FALSE(operation_pj(Count::mac, "int8", "int7", 22));
  EXPECT_FALSE(operation_pj(Count::exp, "int8", "", 22));
  EXPECT_FALSE(operation_pj(Count::move, "fp32", "", 22));
}

TEST(TechnologyScaling, IsTheTablesPolynomial) {
  EXPECT_EQ(energy_ratio(28, 28, 0.8), 1);
  // The printed columns of the publication: relative to 45 nm at 0.8 V.
  EXPECT_NEAR(energy_ratio(45, 130, 0.8), 3.0681, 1e-4);
  EXPECT_NEAR(energy_ratio(45, 16, 0.8), 0.1735, 1e-4);
  EXPECT_NEAR(energy_ratio(45, 7, 0.8), 0.0943, 1e-4);
  EXPECT_NEAR(energy_ratio(7, 1.75, 0.8), 0.5, 1e-12);
  EXPECT_NEAR(area_ratio(45, 20), 0.21, 1e-12);
  EXPECT_NEAR(area_ratio(7, 3.5), 0.5, 1e-12);
  EXPECT_NEAR(energy_ratio(20, 28, 0.8) * energy_ratio(28, 32, 0.8), energy_ratio(20, 32, 0.8), 1e-12);
}

TEST(DramCosts, ByType) {
  EXPECT_EQ(dram_costs("HBM2")->read_pj_per_bit.value, 3.9);
  EXPECT_EQ(dram_costs("hbm2")->read_pj_per_bit.confidence, 'A');
  EXPECT_EQ(dram_costs("LPDDR4")->write_pj_per_bit.value, 8);
  EXPECT_EQ(dram_costs("LPDDR5-system")->write_pj_per_bit.value, 46.875);
  EXPECT_EQ(dram_costs("HBM3e")->read_pj_per_bit.confidence, 'D');
  EXPECT_THAT(dram_costs("DDR3")->read_pj_per_bit.source, HasSubstr("Chatterjee"));
  EXPECT_FALSE(dram_costs("core memory"));
  for (const std::string& type : dram_types()) EXPECT_TRUE(dram_costs(type)) << type;
  EXPECT_EQ(dram_types().size(), 13U);
}

}  // namespace
}  // namespace monet
