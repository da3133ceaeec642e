// The `formats` of a recipe's file: number formats as data.
#pragma once

#include "config/yaml.h"
#include "training/recipe.h"

#include <string>
#include <vector>

namespace monet::training {

// Characters of a text in a recipe: what a format is, where it comes from.
inline constexpr std::size_t longest_recipe_text = 500;

// Names with a block of keys each. A name must not be one of `taken`.
Expected<std::vector<NumberFormat>> read_formats(const Yaml& block, const std::vector<NumberFormat>& taken);

}  // namespace monet::training
