// Does each mistake in a recipe get a message that helps, at its place?
#include "support/expect_error.h"
#include "support/folder.h"
#include "training/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace monet::training {
namespace {

using testing::HasSubstr;

void expect_wrong_text(const std::string& text, const std::vector<std::string>& words, const std::string& place,
                       const std::string& advice = {}) {
  const auto recipe = parse_recipe(text, "r.yaml");
  ASSERT_FALSE(recipe.has_value()) << text;
  test::expect_error(recipe.error(), words, place);
  EXPECT_THAT(recipe.error().advice, HasSubstr(advice)) << recipe.error().text();
}

// `line` is the second.
void expect_wrong(const std::string& line, const std::vector<std::string>& words, const std::string& place,
                  const std::string& advice = {}) {
  expect_wrong_text("monet: 1\n" + line + "\n", words, place, advice);
}

// `keys` of a format begin at 2:17.
void expect_wrong_format(const std::string& keys, const std::vector<std::string>& words, const std::string& place,
                         const std::string& advice = {}) {
  expect_wrong("formats: {mine: {" + keys + "}}", words, place, advice);
}

TEST(RecipeErrors, OfNames) {
  const auto wrong = read_recipe("mxfp9");
  ASSERT_FALSE(wrong.has_value());
  test::expect_error(wrong.error(), {"there is no precision 'mxfp9'"}, "--precision");
  EXPECT_THAT(wrong.error().advice, HasSubstr("mxfp"));
  const auto far = read_recipe("something else");
  ASSERT_FALSE(far.has_value());
  EXPECT_THAT(far.error().advice, HasSubstr("fp8-hybrid"));
  const auto absent = read_recipe("absent.yaml");
  ASSERT_FALSE(absent.has_value());
  EXPECT_THAT(absent.error().text(), HasSubstr("absent.yaml"));
  const test::Folder folder;
  std::filesystem::create_directory(folder / "folder.yaml");
  const auto not_a_file = read_recipe(folder / "folder.yaml");
  ASSERT_FALSE(not_a_file.has_value());
  EXPECT_THAT(not_a_file.error().message, HasSubstr("it is a folder"));
}

TEST(RecipeErrors, OfTheWhole) {
  expect_wrong_text("", {"empty"}, "r.yaml", "docs/precision.md");
  expect_wrong_text("[1]", {"a recipe is a list"}, "r.yaml:1:1", "weights");
  expect_wrong_text("a: [", {"not YAML"}, "r.yaml:1");
  expect_wrong_text("values: fp32", {"without 'monet'"}, "r.yaml:1:1", "monet: 1");
  expect_wrong_text("monet: 2", {"version 1"}, "r.yaml:1:8", "monet: 1");
  expect_wrong("weigths: fp32", {"unknown key 'weigths'"}, "r.yaml:2:1", "did you mean 'weights'?");
  expect_wrong("weights:", {"'weights' has no value"}, "r.yaml:2:1");
  expect_wrong("description: [a]", {"'description' of a recipe is a list"}, "r.yaml:2:14", "one text");
  expect_wrong("description: " + std::string(501, 'x'), {"501 characters"}, "r.yaml:2:14", "at most 500");
}

TEST(RecipeErrors, OfWhatProductsRead) {
  expect_wrong("weights: mxfp88", {"'weights' of a recipe: there is no format 'mxfp88'"}, "r.yaml:2:10", "mxfp");
  expect_wrong("activations: int32", {"'int32': integers without a scale"}, "r.yaml:2:14", "int8_tensor");
  expect_wrong("gradients: {format: mxfp4, rounding: up}", {"'rounding' cannot be 'up'"}, "r.yaml:2:38", "stochastic");
  expect_wrong("gradients: {rounding: nearest}", {"has no format"}, "r.yaml:2:12", "format: mxfp4");
  expect_wrong("gradients: {form: mxfp4}", {"unknown key 'form'"}, "r.yaml:2:13", "'format'");
  expect_wrong("gradients: [mxfp4]", {"is a list"}, "r.yaml:2:12", "one text");
}

TEST(RecipeErrors, OfPlainNumbers) {
  expect_wrong("values: mxfp8_e4m3", {"'values' of a recipe cannot be 'mxfp8_e4m3', which has scales"}, "r.yaml:2:9",
               "bf16");
  expect_wrong("values: int32", {"must be floating-point"}, "r.yaml:2:9", "stored_values");
  expect_wrong("values: {mixed: true}", {"has no 'compute'"}, "r.yaml:2:9", "compute: bf16");
  expect_wrong("values: {compute: bf16, mixed: 1}", {"neither true nor false"}, "r.yaml:2:32");
  expect_wrong("values: {compute: fp16, loss_scale: 0}", {"loss scale of 0"}, "r.yaml:2:37");
  expect_wrong("values: {compute: fp16, loss_scale: x}", {"'x' is not a number"}, "r.yaml:2:37");
  expect_wrong("accumulators: int8_tensor", {"'accumulators' of a recipe cannot be 'int8_tensor'"}, "r.yaml:2:15");
  expect_wrong("accumulators: int32", {"integer accumulators need 'stored_values'"}, "r.yaml:2:15", "int8_shift");
  expect_wrong("optimizer_state: fp23", {"there is no format 'fp23'"}, "r.yaml:2:18", "did you mean");
  expect_wrong("weight_gradients: mx9", {"which has scales"}, "r.yaml:2:19");
}

TEST(RecipeErrors, OfTheRest) {
  expect_wrong("copies: both", {"'copies' of a recipe cannot be 'both'"}, "r.yaml:2:9", "stored");
  expect_wrong("attention: maybe", {"neither true nor false"}, "r.yaml:2:12");
  expect_wrong("keep: {a: b}", {"is a block of keys"}, "r.yaml:2:7", "one text");
  std::string many = "keep: [";
  for (int i = 0; i < 1001; ++i) many += "a, ";
  expect_wrong(many + "a]", {"more than 1000 patterns"}, "r.yaml:2:7");
}

TEST(RecipeErrors, OfFormats) {
  expect_wrong("formats: [a]", {"'formats' is a list"}, "r.yaml:2:10");
  expect_wrong("formats: {mine: fp8}", {"is one value"}, "r.yaml:2:17", "element");
  expect_wrong("formats: {fp32: {element: fp16}}", {"a format 'fp32' already"}, "r.yaml:2:11", "another name");
  expect_wrong("formats: {'a b': {element: fp16}}", {"cannot be the name"}, "r.yaml:2:11", "letters");
  expect_wrong("formats: {none: {element: fp16}}", {"cannot be the name"}, "r.yaml:2:11");
  expect_wrong_format("group: 32", {"'mine' has no element"}, "r.yaml:2:11", "element: fp8e4m3");
  expect_wrong_format("element: fp8, bits: 3", {"unknown key 'bits'"}, "r.yaml:2:32");
  expect_wrong_format("element: fp8", {"'fp8' is not an element type"}, "r.yaml:2:27", "fp8e4m3");
  for (const char* wrong : {"fp64", "bool", "uint8", "int64", "fp8e8m0"}) {
    expect_wrong_format(std::string("element: ") + wrong, {"is not an element type"}, "r.yaml:2:27");
  }
  expect_wrong_format("element: [1]", {"is a list"}, "r.yaml:2:27");
  expect_wrong_format("element: {exponent: 4}", {"without 'mantissa'"}, "r.yaml:2:27");
  expect_wrong_format("element: {mantissa: 4}", {"without 'exponent'"}, "r.yaml:2:27");
  expect_wrong_format("element: {exponent: 9, mantissa: 3}", {"cannot be 9"}, "r.yaml:2:38", "from 2 to 8");
  expect_wrong_format("element: {exponent: 4, mantissa: 24}", {"cannot be 24"}, "r.yaml:2:51", "from 0 to 23");
  expect_wrong_format("element: {exponent: 4, mantissa: 0, specials: ieee}", {"without mantissa"}, "r.yaml:2:27");
  expect_wrong_format("element: {exponent: 4, mantissa: 3, specials: all}", {"cannot be 'all'"}, "r.yaml:2:64", "ieee");
  expect_wrong_format("element: {integer: 33}", {"cannot be 33"}, "r.yaml:2:37", "from 2 to 32");
  expect_wrong_format("element: {integer: 8, mantissa: 3}", {"unknown key 'mantissa'"}, "r.yaml:2:40");
}

TEST(RecipeErrors, OfGroups) {
  for (const char* wrong : {"0", "1", "-8", "8x", "x8", "8x8x8", "5000", "rows", "8 x 8", "1x1", "99999999999"}) {
    expect_wrong_format(std::string("element: int8, group: ") + wrong, {"'group' of a format cannot be"}, "r.yaml:2:40",
                        "8x8");
  }
  expect_wrong_format("element: int8, scale: fp32", {"'scale' needs groups"}, "r.yaml:2:40", "group: 32");
  expect_wrong_format("element: int8, second_level: tensor", {"'second_level' needs groups"}, "r.yaml:2:47");
  for (const char* wrong : {"int8", "fp64", "e4"}) {
    expect_wrong_format(std::string("element: int8, group: 32, scale: ") + wrong, {"'scale' of a format cannot be"},
                        "r.yaml:2:51", "e8m0");
  }
  expect_wrong_format("element: int8, group: tensor, second_level: tensor", {"needs groups of neighbours"},
                      "r.yaml:2:62");
  expect_wrong_format("element: int8, group: 16, second_level: 3", {"cannot be '3'"}, "r.yaml:2:58", "tensor");
  expect_wrong_format("element: int8, group: 16, second_level: {bits: 1}", {"without 'elements'"}, "r.yaml:2:58");
  expect_wrong_format("element: int8, group: 16, second_level: {bits: 9, elements: 2}", {"cannot be 9"}, "r.yaml:2:65");
  expect_wrong_format("element: int8, group: 16, second_level: {bits: 1, elements: 3}",
                      {"groups of 16 cannot be divided into parts of 3"}, "r.yaml:2:78");
  expect_wrong_format("element: fp8e4m3, group: 16, scale: fp16, second_level: {bits: 8, elements: 2}",
                      {"the format 'mine' is not possible", "subgroups need blocks with a power of two"}, "r.yaml:2:74",
                      "scale: e8m0");
  expect_wrong_format("element: fp4e2m1, group: 16, scale: e8m0, second_level: tensor",
                      {"the format 'mine' is not possible", "needs groups with a floating-point scale"}, "r.yaml:2:74",
                      "scale: fp8e4m3");
  expect_wrong_format("element: fp4e2m1, group: 16, second_level: tensor", {"needs groups with a floating-point scale"},
                      "r.yaml:2:61", "scale: fp8e4m3");
}

TEST(RecipeErrors, OfBases) {
  expect_wrong("base: mxfp9", {"there is no recipe 'mxfp9'"}, "r.yaml:2:7", "mxfp");
  expect_wrong("base: absent.yaml", {"absent.yaml"}, "r.yaml:2:7");
  expect_wrong("base: r.yaml", {"'r.yaml' is its own base"}, "r.yaml:2:7");
  const test::Folder folder;
  std::ofstream(folder / "a.yaml") << "monet: 1\nbase: b.yaml\n";
  std::ofstream(folder / "b.yaml") << "monet: 1\nbase: a.yaml\n";
  const auto circle = read_recipe(folder / "a.yaml");
  ASSERT_FALSE(circle.has_value());
  test::expect_error(circle.error(), {"is its own base"}, "b.yaml:2:7");
  for (int i = 0; i < 20; ++i) {
    std::ofstream(folder / (std::to_string(i) + ".yaml")) << "monet: 1\nbase: " << i + 1 << ".yaml\n";
  }
  const auto deep = read_recipe(folder / "0.yaml");
  ASSERT_FALSE(deep.has_value());
  test::expect_error(deep.error(), {"more than 16 recipes are based on each other"}, ".yaml:2:7");
  std::ofstream(folder / "wrong.yaml") << "monet: 1\nweights: x\n";
  std::ofstream(folder / "on_wrong.yaml") << "monet: 1\nbase: wrong.yaml\n";
  const auto wrong = read_recipe(folder / "on_wrong.yaml");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().place, HasSubstr("wrong.yaml:2:10"));
}

// Texts that grow when they are read end in an error, quickly.
TEST(RecipeErrors, OfHostileTexts) {
  std::string aliases = "monet: 1\nformats:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    aliases += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) aliases += before + ", ";
    aliases += before + "]\n";
  }
  expect_wrong_text(aliases, {"values"}, "r.yaml");
  expect_wrong_text("monet: 1\nweights: " + std::string(100000, '['), {}, "r.yaml");
  expect_wrong_text(std::string((1U << 20) + 1, ' '), {}, "r.yaml");
  expect_wrong_text(std::string("monet: 1\nweights: \0\1\2", 20), {}, "r.yaml");
  expect_wrong("base: " + std::string(5000, 'a'), {"5000 characters"}, "r.yaml:2:7");
}

}  // namespace
}  // namespace monet::training
