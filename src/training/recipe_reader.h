// Where the text of a recipe comes from: shared by those who open recipes and the reader, which follows `base`.
#pragma once

#include "config/yaml.h"
#include "training/recipe.h"

#include <string>

namespace monet::training {

constexpr YamlFileKind recipe_file_kind = {.name = "recipe",
                                           .example = "docs/precision.md",
                                           .shorten = "a recipe states each key once",
                                           .max_bytes = std::size_t{1} << 20,
                                           .max_nodes = 20000};

struct RecipeText {
  std::string text;
  std::string place;  // "recipe mxfp8", or the file's path
  std::string name;   // "mxfp8"; of a file its name without the ending
};

// Of a recipe's name or the path of a file.
Expected<RecipeText> recipe_text(const std::string& name_or_path);

}  // namespace monet::training
