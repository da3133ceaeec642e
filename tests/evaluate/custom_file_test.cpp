// Costs of operators from a file: what expressions mean, and what is said of a file that is wrong.
#include "evaluate/cost/custom_file.h"

#include "support/expect_error.h"
#include "support/folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace monet {
namespace {

using test::expect_error;

CustomTile tile(const std::string& op, const std::string& core = "simd") {
  return {.op = op,
          .core = core,
          .precision = "fp32",
          .loops = {{"B", 4}, {"K", 16}},
          .input_shapes = {{4, 16}, {16}},
          .output_shapes = {{4, 16}},
          .attributes = {}};
}

CustomCosts costs_of(const std::string& text) {
  auto costs = parse_custom_costs(text, "costs.yaml");
  EXPECT_TRUE(costs.has_value()) << (costs ? "" : costs.error().text());
  return costs ? *std::move(costs) : CustomCosts();
}

std::optional<CustomCost> cost_in(const std::string& text, const CustomTile& of) {
  const CustomCosts costs = costs_of(text);
  if (!costs) return std::nullopt;
  const auto cost = costs(of);
  EXPECT_TRUE(cost.has_value()) << (cost ? "" : cost.error().text());
  return cost ? *cost : std::nullopt;
}

Error cost_error(const std::string& text) {
  const auto costs = parse_custom_costs(text, "costs.yaml");
  EXPECT_FALSE(costs.has_value());
  return costs ? Error{} : costs.error();
}

TEST(CustomCostFile, ExpressionsOverSizes) {
  const auto cost =
      cost_in("operators:\n  FancyNorm: {cycles: 20 + inputs / 16, energy: 1.5 pJ * inputs}\n", tile("FancyNorm"));
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->cycles, 20 + 80.0 / 16);
  EXPECT_EQ(cost->energy_pj, 1.5 * 80);
}

TEST(CustomCostFile, EveryNameThereIs) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, double>>{{"inputs", 80},
                                                                               {"outputs", 64},
                                                                               {"in0", 64},
                                                                               {"in1", 16},
                                                                               {"in7", 0},
                                                                               {"out0", 64},
                                                                               {"out1", 0},
                                                                               {"points", 64},
                                                                               {"B", 4},
                                                                               {"K", 16},
                                                                               {"OY", 1},
                                                                               {"A3", 1}}) {
    const auto cost = cost_in("operators: {F: {cycles: '" + name + "', energy: 0}}", tile("F"));
    ASSERT_TRUE(cost.has_value()) << name;
    EXPECT_EQ(cost->cycles, value) << name;
    EXPECT_EQ(cost->energy_pj, 0);
  }
}

TEST(CustomCostFile, UnitsAreConverted) {
  const auto cost = cost_in("operators: {F: {cycles: 3 cycle * B, energy: 2 nJ}}", tile("F"));
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->cycles, 12);
  EXPECT_EQ(cost->energy_pj, 2000);
}

TEST(CustomCostFile, CostsOfSomeCores) {
  const std::string all = "operators: {F: {cycles: 1, energy: 0, cores: {simd: {cycles: 2, energy: 3 pJ}}}}";
  EXPECT_EQ(cost_in(all, tile("F"))->cycles, 2);
  EXPECT_EQ(cost_in(all, tile("F", "array"))->cycles, 1);
  const std::string only = "operators: {F: {cores: {simd: {cycles: 2, energy: 3 pJ}}}}";
  EXPECT_EQ(cost_in(only, tile("F"))->energy_pj, 3);
  EXPECT_FALSE(cost_in(only, tile("F", "array")).has_value());
}

TEST(CustomCostFile, OtherOperatorsAreAsTheyWere) {
  EXPECT_FALSE(cost_in("operators: {F: {cycles: 1, energy: 0}}", tile("G")).has_value());
}

TEST(CustomCostFile, IsReadFromTheDisk) {
  const test::Folder folder;
  const std::string path = folder / "costs.yaml";
  std::ofstream(path) << "operators: {F: {cycles: 5, energy: 1 pJ}}\n";
  const auto costs = read_custom_costs(path);
  ASSERT_TRUE(costs.has_value()) << costs.error().text();
  EXPECT_EQ((**(*costs)(tile("F"))).cycles, 5);
  EXPECT_FALSE(read_custom_costs(folder / "absent.yaml").has_value());
}

// ---- what is the user told?

TEST(CustomCostFileErrors, Forms) {
  expect_error(cost_error("operators: [a"), {}, "costs.yaml:", false);
  expect_error(cost_error("- a"), {"the file is a list"}, "costs.yaml:1:1");
  expect_error(cost_error("operator: {}"), {"unknown key 'operator'"}, "costs.yaml:1:1");
  expect_error(cost_error("operators: {}"), {"names no operators"}, "costs.yaml:1:12");
  expect_error(cost_error("operators:\n  F: 3"), {"operator F is"}, "costs.yaml:2:6");
  expect_error(cost_error("operators: {F: {cycle: 3, energy: 0}}"), {"unknown key 'cycle' in operator F"},
               "costs.yaml:1:17");
  expect_error(cost_error("operators: {F: {energy: 0}}"), {"operator F has no cycles"}, "costs.yaml:1:16");
  expect_error(cost_error("operators: {F: {cycles: 0}}"), {"operator F has no energy"}, "costs.yaml:1:16");
  expect_error(cost_error("operators: {F: {cycles: [1], energy: 0}}"), {"'cycles' of operator F is a list"},
               "costs.yaml:1:25");
  expect_error(cost_error("operators: {F: {cores: {}}}"), {"'cores' of operator F names no core"}, "costs.yaml:1:24");
  expect_error(cost_error("operators: {F: {cores: {simd: {cycles: 1}}}}"), {"operator F on simd has no energy"},
               "costs.yaml:1:31");
}

TEST(CustomCostFileErrors, Expressions) {
  expect_error(cost_error("operators: {F: {cycles: 1 +, energy: 0}}"), {"a value is missing"}, "costs.yaml:1:25",
               false);
  expect_error(cost_error("operators: {F: {cycles: imputs, energy: 0}}"), {"'imputs' is no size of a tile"},
               "costs.yaml:1:25");
  expect_error(cost_error("operators: {F: {cycles: inx, energy: 0}}"), {"'inx' is no size"}, "costs.yaml:1:25");
  expect_error(cost_error("operators: {F: {cycles: 3 pJ, energy: 0}}"), {"'cycles' of operator F has another unit"},
               "costs.yaml:1:25");
  expect_error(cost_error("operators: {F: {cycles: 3, energy: inputs}}"), {"'energy' of operator F has another unit"},
               "costs.yaml:1:36");
  expect_error(cost_error("operators: {F: {cycles: 3 + 1 pJ, energy: 0}}"), {}, "costs.yaml:1:25", false);
}

TEST(CustomCostFileErrors, ValuesThatAreNoCosts) {
  const CustomCosts costs = costs_of("operators: {F: {cycles: 1 / in7, energy: 0}, G: {cycles: 1, energy: -B * 1 pJ}}");
  const auto infinite = costs(tile("F"));
  ASSERT_FALSE(infinite.has_value());
  expect_error(infinite.error(), {"'1 / in7' gives inf for a tile of F"}, "costs.yaml:1:25");
  const auto negative = costs(tile("G"));
  ASSERT_FALSE(negative.has_value());
  expect_error(negative.error(), {"'-B * 1 pJ' gives -4 for a tile of G"}, "costs.yaml:1:");
}

TEST(CustomCostFileErrors, TooLarge) {
  expect_error(cost_error(std::string((std::size_t{1} << 20) + 1, ' ')), {}, "costs.yaml");
}

}  // namespace
}  // namespace monet
