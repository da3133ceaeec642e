#include "present/shared/numbers.h"

#include "training/recipe.h"

#include <fmt/format.h>

namespace monet {

std::string numbers_text(const std::string& recipe, const std::string& from) {
  std::string text = recipe;
  if (from == "file") text += ", the network's own";
  if (from == "machine") text += ", the machine's recipe: it has no unit for the network's own";
  if (from == "file") return text;
  const auto known = training::read_recipe(recipe);
  if (known && known->everything) {
    text += fmt::format("; all tensors in {} bits, nothing trains so", bits_of(*known->everything));
  }
  return text;
}

}  // namespace monet
