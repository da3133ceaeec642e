// Do the formats and recipes that are part of the program say what their sources say, and can users write their own?
#include "training/recipe.h"

#include "base/embedded.h"
#include "graph/format.h"
#include "support/folder.h"
#include "training/quantized_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace monet::training {
namespace {

using quantized_case::recipe_of;

const NumberFormat& format_named(const std::string& name) {
  for (const NumberFormat& each : number_formats()) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "no format " << name;
  return number_formats().front();
}

Recipe parsed(const std::string& text) {
  auto recipe = parse_recipe(text, "mine.yaml");
  EXPECT_TRUE(recipe.has_value()) << (recipe ? "" : recipe.error().text());
  return recipe ? *recipe : Recipe{};
}

// Table of the OCP MX specification v1.0, and DaCapo's formats: exactly 9, 6 and 4 bits.
TEST(Formats, HaveTheBitsOfTheirSpecifications) {
  for (const auto& [name, bits] : std::initializer_list<std::pair<const char*, double>>{{"fp32", 32},
                                                                                        {"tf32", 32},
                                                                                        {"bf16", 16},
                                                                                        {"fp16", 16},
                                                                                        {"fp25", 25},
                                                                                        {"fp8_e4m3", 8},
                                                                                        {"fp8_e5m2_tensor", 8},
                                                                                        {"mxfp8_e5m2", 8.25},
                                                                                        {"mxfp8_e4m3", 8.25},
                                                                                        {"mxfp6_e3m2", 6.25},
                                                                                        {"mxfp6_e2m3", 6.25},
                                                                                        {"mxfp4", 4.25},
                                                                                        {"mxint8", 8.25},
                                                                                        {"mxfp8_e5m2_8x8", 8.125},
                                                                                        {"mxfp8_e4m3_8x8", 8.125},
                                                                                        {"mxfp6_e3m2_8x8", 6.125},
                                                                                        {"mxfp6_e2m3_8x8", 6.125},
                                                                                        {"mxfp4_8x8", 4.125},
                                                                                        {"mxint8_8x8", 8.125},
                                                                                        {"mx9", 9},
                                                                                        {"mx6", 6},
                                                                                        {"mx4", 4},
                                                                                        {"nvfp4", 4.5},
                                                                                        {"int8_tensor", 8},
                                                                                        {"int8_channel", 8},
                                                                                        {"int8_shift", 8},
                                                                                        {"int32", 32}}) {
    EXPECT_EQ(stored_bits(format_named(name).format), bits) << name;
  }
}

TEST(Formats, AreCompleteAndSourced) {
  std::set<std::string> names;
  for (const NumberFormat& each : number_formats()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_FALSE(each.description.empty()) << each.name;
    EXPECT_FALSE(each.source.empty()) << each.name;
    EXPECT_EQ(parse_format(to_string(each.format)), each.format) << each.name;
  }
  EXPECT_EQ(to_string(format_named("mxfp8_e4m3").format), "fp8e4m3:e8m0/32@-1");
  EXPECT_EQ(to_string(format_named("mx9").format), "int8:e8m0/16@-1+1/2");
  EXPECT_EQ(to_string(format_named("nvfp4").format), "fp4e2m1:fp8e4m3/16@-1+tensor32");
  EXPECT_EQ(to_string(format_named("mxint8_8x8").format), "int8:e8m0/8x8@-1");
  EXPECT_EQ(to_string(format_named("int8_channel").format), "int8:fp32/channel@-1");
}

// Every file is listed, and every name that is listed can be read.
TEST(Recipes, AreListed) {
  std::set<std::string> files;
  for (const EmbeddedFile& file : embedded_files()) {
    constexpr std::string_view folder = "recipes/";
    if (!file.path.starts_with(folder) || file.path == "recipes/formats.yaml") continue;
    files.emplace(file.path.substr(folder.size(), file.path.size() - folder.size() - 5));
  }
  const std::vector<std::string> names = recipe_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), files);
  for (const std::string& name : names) {
    const Recipe recipe = recipe_of(name);
    EXPECT_EQ(recipe.name, name);
    EXPECT_FALSE(recipe.description.empty()) << name;
    EXPECT_FALSE(recipe.source.empty()) << name;
  }
  EXPECT_EQ(names.front(), "fp32");
}

TEST(Recipes, OfPlainNumbersQuantizeNothing) {
  struct Plain {
    const char* name;
    ElementType compute;
    bool mixed;
    double loss_scale;
  };
  for (const Plain& each :
       {Plain{"fp32", ElementType::float32, false, 1}, Plain{"bf16", ElementType::bfloat16, false, 1},
        Plain{"fp16", ElementType::float16, false, 1}, Plain{"mixed", ElementType::bfloat16, true, 1},
        Plain{"mixed-fp16", ElementType::float16, true, 65536}}) {
    const Recipe recipe = recipe_of(each.name);
    EXPECT_EQ(recipe.values.compute, each.compute) << each.name;
    EXPECT_EQ(recipe.values.mixed, each.mixed) << each.name;
    EXPECT_EQ(recipe.values.default_loss_scale, each.loss_scale) << each.name;
    EXPECT_FALSE(recipe.quantizes()) << each.name;
  }
}

TEST(Recipes, NameWhatProductsRead) {
  const Recipe hybrid = recipe_of("fp8-hybrid");
  EXPECT_EQ(hybrid.weights->number.name, "fp8_e4m3_tensor");
  EXPECT_EQ(hybrid.gradients->number.name, "fp8_e5m2_tensor");
  const Recipe square = recipe_of("mxfp4-square");
  EXPECT_EQ(square.activations->number.name, "mxfp4_8x8");
  EXPECT_EQ(square.gradients->rounding, Rounding::stochastic);
  EXPECT_TRUE(square.values.mixed);  // of its base
  EXPECT_EQ(square.description.find("as mxfp4"), 0U);
  const Recipe integer = recipe_of("int8-integer");
  EXPECT_EQ(integer.accumulators, ElementType::int32);
  EXPECT_EQ(integer.stored_values->number.name, "int8_shift");
  EXPECT_EQ(integer.master->rounding, Rounding::stochastic);
}

TEST(Recipes, OfUsersHaveTheirOwnFormats) {
  const Recipe recipe = parsed(R"(
monet: 1
description: mine
formats:
  seven: {element: {exponent: 3, mantissa: 3, specials: nan}, group: 4x16, scale: fp16}
  five: {element: {integer: 5}, group: 24, second_level: {bits: 2, elements: 4}}
  own_nvfp4: {element: fp4e2m1, group: 16, scale: fp8e4m3, second_level: tensor}
values: {compute: fp16, loss_scale: 8}
weights: seven
activations: five
gradients: {format: own_nvfp4, rounding: stochastic}
accumulators: fp25
weight_gradients: bf16
optimizer_state: bf16
master: fp32
copies: requantized
keep: [head, 'block*']
attention: true
)");
  EXPECT_EQ(recipe.name, "mine");
  EXPECT_EQ(to_string(recipe.weights->number.format), "fp7e3m3n:fp16/4x16@-1");
  EXPECT_EQ(to_string(recipe.activations->number.format), "int5:e8m0/24@-1+2/4");
  EXPECT_EQ(recipe.gradients->number.format, format_named("nvfp4").format);
  EXPECT_EQ(recipe.gradients->rounding, Rounding::stochastic);
  EXPECT_EQ(recipe.values.default_loss_scale, 8);
  EXPECT_EQ(bits_of(recipe.accumulators), 25);
  EXPECT_EQ(recipe.weight_gradients, ElementType::bfloat16);
  EXPECT_EQ(recipe.optimizer_state, ElementType::bfloat16);
  EXPECT_EQ(recipe.master->number.name, "fp32");
  EXPECT_EQ(recipe.copies, Copies::requantized);
  EXPECT_EQ(recipe.keep, (std::vector<std::string>{"head", "block*"}));
  EXPECT_TRUE(recipe.attention);
}

TEST(Recipes, StartFromOthers) {
  const Recipe recipe = parsed("monet: 1\nbase: mxfp8\ngradients: none\nweights: mxfp4\n");
  EXPECT_EQ(recipe.weights->number.name, "mxfp4");
  EXPECT_EQ(recipe.activations->number.name, "mxfp8_e4m3");
  EXPECT_FALSE(recipe.gradients.has_value());
  EXPECT_TRUE(recipe.values.mixed);
  EXPECT_TRUE(recipe.description.empty());  // what it says of itself is not handed on
}

TEST(Recipes, StartFromFilesBesideThem) {
  const test::Folder folder;
  std::ofstream(folder / "one.yaml") << "monet: 1\nformats: {own: {element: int8, group: 64}}\nweights: own\n";
  std::ofstream(folder / "two.yaml") << "monet: 1\nbase: one.yaml\nactivations: own\n";
  const Recipe recipe = recipe_of(folder / "two.yaml");
  EXPECT_EQ(recipe.name, "two");
  EXPECT_EQ(recipe.weights->number.name, "own");
  EXPECT_EQ(recipe.activations->number.format.group_size, 64);
}

}  // namespace
}  // namespace monet::training
