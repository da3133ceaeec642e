#include "training/recipe.h"

#include "base/embedded.h"
#include "base/read_file.h"
#include "base/require.h"
#include "base/try.h"
#include "config/check_keys.h"
#include "config/yaml_values.h"
#include "hardware/include.h"
#include "training/recipe_formats.h"
#include "training/recipe_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace monet::training {

namespace {

// What recipes/formats.yaml says.
struct Library {
  std::vector<NumberFormat> formats;
  std::vector<std::string> recipes;
};

const Library& library() {
  static const Library all = [] {
    const auto root =
        parse_yaml(std::string(embedded_text("recipes/formats.yaml")), "recipes/formats.yaml", recipe_file_kind);
    MONET_REQUIRE(root.has_value());
    auto formats = read_formats(*(*root)->find("formats"), {});
    MONET_REQUIRE(formats.has_value());
    Library result{.formats = *std::move(formats), .recipes = {}};
    for (const Yaml* name : one_or_more(*(*root)->find("recipes"))) result.recipes.push_back(name->scalar);
    return result;
  }();
  return all;
}

}  // namespace

bool is_recipe_file(const std::string& name_or_path) {
  return name_or_path.ends_with(".yaml") || name_or_path.ends_with(".yml");
}

const std::vector<std::string>& width_names() {
  static const std::vector<std::string> names = {"fp8", "int16", "int8", "int4"};
  return names;
}

bool is_width(const std::string& name) { return std::ranges::find(width_names(), name) != width_names().end(); }

std::vector<std::string> recipe_names() { return library().recipes; }

const std::vector<NumberFormat>& number_formats() { return library().formats; }

Expected<RecipeText> recipe_text(const std::string& name_or_path) {
  const std::vector<std::string>& names = library().recipes;
  if (std::ranges::find(names, name_or_path) != names.end()) {
    return RecipeText{.text = std::string(embedded_text(fmt::format("recipes/{}.yaml", name_or_path))),
                      .place = "recipe " + name_or_path,
                      .name = name_or_path};
  }
  if (is_recipe_file(name_or_path)) {
    MONET_TRY(std::string text, read_file(name_or_path));
    return RecipeText{
        .text = std::move(text), .place = name_or_path, .name = std::filesystem::path(name_or_path).stem().string()};
  }
  return Error{.message = fmt::format("there is no precision '{}'", shown(name_or_path)),
               .place = "--precision",
               .advice = fmt::format("{}; or {}", meant_name(name_or_path, names), fmt::join(width_names(), ", "))};
}

Expected<Recipe> read_recipe(const std::string& name_or_path) {
  if (is_width(name_or_path)) {
    return Recipe{.name = name_or_path,
                  .description = "every tensor at this width, nothing converted: a way of counting",
                  .source = "",
                  .everything = element_type_named(name_or_path == "fp8" ? "fp8e4m3" : name_or_path)};
  }
  MONET_TRY(const RecipeText text, recipe_text(name_or_path));
  MONET_TRY(Recipe recipe, parse_recipe(text.text, text.place));
  recipe.name = text.name;
  return recipe;
}

}  // namespace monet::training
