#include "report/numbers_text.h"

#include "training/recipe.h"

#include <fmt/format.h>

namespace monet {

std::string numbers_text(const std::string& recipe, const std::string& from) {
  std::string text = recipe;
  if (from == "file") text += ", the network's own";
  if (from == "machine") text += ", the machine's recipe: it has no unit for the network's own";
  const auto known = training::is_recipe_file(recipe) || from == "file" ? std::nullopt : [&] {
    const auto read = training::read_recipe(recipe);
    return read ? std::optional(*read) : std::nullopt;
  }();
  if (known && known->everything) {
    text += fmt::format("; all tensors in {} bits, nothing trains so", bits_of(*known->everything));
  }
  return text;
}

}  // namespace monet
