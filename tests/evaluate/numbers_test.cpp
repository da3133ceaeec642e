// In which numbers does a network run on a machine, and is it said where they come from?
#include "evaluate/open/numbers.h"

#include "evaluate/open/hardware.h"
#include "evaluate/open/opened_step.h"
#include "hardware/presets.h"
#include "support/expect_error.h"
#include "training/recipe.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;

NumberChoice chosen(const std::string& machine, const std::string& precision = {}) {
  const auto hardware = open_hardware(machine);
  EXPECT_TRUE(hardware) << machine;
  TrainOptions train;
  train.precision = precision;
  const auto choice = choose_numbers("mlp-robotics:hidden=8,layers=1", *hardware, train);
  EXPECT_TRUE(choice) << choice.error().text();
  return choice ? *choice : NumberChoice{};
}

TEST(Numbers, AreTheNetworksOwnTheMachinesOrTheUsers) {
  struct Row {
    const char *machine, *precision, *recipe;
    RecipeFrom from;
  };
  for (const Row& row :
       {Row{"h100", "", "fp32", RecipeFrom::file}, Row{"stm32h743", "", "fp32", RecipeFrom::file},
        Row{"jetson_agx_orin", "", "fp32", RecipeFrom::file},
        Row{"edge_tpu", "", "int8-everywhere", RecipeFrom::machine},
        Row{"tpu_v4", "", "bf16-products", RecipeFrom::machine},
        Row{"snax_mx", "", "mxint8-square", RecipeFrom::machine}, Row{"dacapo", "", "dacapo-mx9", RecipeFrom::machine},
        Row{"h100", "bf16", "bf16", RecipeFrom::option}, Row{"edge_tpu", "int8", "int8", RecipeFrom::option}}) {
    const NumberChoice choice = chosen(row.machine, row.precision);
    EXPECT_EQ(choice.recipe, row.recipe) << row.machine;
    EXPECT_EQ(choice.from, row.from) << row.machine;
  }
}

// Whatever is run without an option runs: by its own numbers or the machine's recipe.
TEST(Numbers, EveryPresetRunsANetworkOfFp32) {
  for (const std::string& name : preset_names()) {
    const auto hardware = open_hardware(name);
    ASSERT_TRUE(hardware) << name;
    EXPECT_NE(hardware->recipe, "") << name << " names no recipe";
    EXPECT_TRUE(training::read_recipe(hardware->recipe)) << name;
    TrainOptions train;
    train.batch = 8;
    train.precision = chosen(name).precision();
    const auto step = open_network_as_asked("mlp-robotics:hidden=8,layers=1", train, true);
    ASSERT_TRUE(step) << step.error().text();
    const auto extract = extract_options(train.precision, {});
    ASSERT_TRUE(extract);
    EXPECT_TRUE(check_numbers(step->graph, *hardware, *extract, train.precision)) << name;
  }
}

TEST(Numbers, WhatAMachineCannotRunIsAnErrorThatSaysWhatItCan) {
  const auto hardware = open_hardware("edge_tpu");
  const auto step = open_network_as_asked("mlp-robotics:hidden=8,layers=1", {}, true);
  ASSERT_TRUE(hardware && step);
  const Status checked = check_numbers(step->graph, *hardware, {}, "fp32");
  ASSERT_FALSE(checked);
  expect_error(checked.error(),
               {"edge_tpu cannot run Gemm", "in the numbers of fp32", "multiplies in int8, not in fp32"});
  EXPECT_EQ(checked.error().advice,
            "recipes that it can train with: int8-everywhere, int8-analog; --set arithmetic=... gives it units of "
            "other numbers than int8");
}

TEST(Numbers, ARecipeThatThereIsNotIsTheMachinesMistake) {
  auto hardware = open_hardware("edge_tpu");
  ASSERT_TRUE(hardware);
  hardware->recipe = "int8-everywere";
  const auto choice = choose_numbers("mlp-robotics:hidden=8,layers=1", *hardware, {});
  ASSERT_FALSE(choice);
  expect_error(choice.error(), {"there is no precision 'int8-everywere'"});
  EXPECT_EQ(choice.error().place, "recipe of edge_tpu");
}

TEST(Numbers, EightBitsEverywhereAreEightBitsOfEverything) {
  TrainOptions train;
  train.batch = 4;
  train.optimizer = "adam";
  const auto own = open_network_as_asked("mlp-robotics:hidden=8,layers=1", train, true);
  train.precision = "int8-everywhere";
  const auto narrow = open_network_as_asked("mlp-robotics:hidden=8,layers=1", train, true);
  ASSERT_TRUE(own && narrow);
  ASSERT_EQ(own->graph.tensors().size(), narrow->graph.tensors().size()) << "nothing converts";
  for (std::size_t i = 0; i < own->graph.tensors().size(); ++i) {
    const Tensor& tensor = narrow->graph.tensors()[i];
    EXPECT_EQ(bytes(tensor), element_count(tensor.type.shape)) << tensor.name;
  }
  EXPECT_EQ(4 * saved_bytes_of(narrow->graph), saved_bytes_of(own->graph));
}

// A TPU's products run in bf16 while all that is stored and moved stays fp32.
TEST(Numbers, ProductsInFewerBitsLeaveTensorsAsTheyAre) {
  const auto extract = extract_options("bf16-products", {});
  ASSERT_TRUE(extract);
  const auto step = open_network_as_asked("mlp-robotics:hidden=8,layers=1", {}, true);
  ASSERT_TRUE(step);
  std::size_t products = 0;
  for (const Node& node : step->graph.nodes()) {
    for (const Problem& problem : problems_of(step->graph, node, *extract)) {
      if (problem.leeway == Leeway::any) continue;
      const bool product = problem.per_point[Count::mac] > 0;
      products += product ? 1 : 0;
      EXPECT_EQ(problem.precision, product ? "bf16" : "fp32") << node.name;
      for (const ProblemOperand& operand : problem.operands) {
        EXPECT_EQ(operand.bits, operand.bits == 64 ? 64 : 32) << node.name;  // labels are int64
      }
    }
  }
  EXPECT_GT(products, 3U);
}

}  // namespace
}  // namespace monet
