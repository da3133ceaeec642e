// Which numbers a training step is made of, class by class of its tensors: what --precision names.
//
// A recipe is a file (recipes/*.yaml are part of the program), see docs/precision.md. What it says is done in two
// places: `values` before differentiation (with_precision), all else on the finished step (quantized).
#pragma once

#include "graph/number.h"
#include "training/precision.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monet::training {

// A format as recipes name it. Which axes its groups lie along is decided where it is used.
struct NumberFormat {
  std::string name;  // "mxfp8_e4m3"
  Format format;
  std::string description;
  std::string source;
};

// What a product reads, and how it was rounded.
struct OperandFormat {
  NumberFormat number;
  Rounding rounding = Rounding::nearest;
};

// How the second copy of an operand comes about that a vector group needs: each product reads groups along the axis
// that it sums over, and that of the gradient products is another one than that of the forward product.
enum class Copies : std::uint8_t {
  stored,       // both are made where the tensor is made, and kept
  requantized,  // the second is made when it is read, from the tensor itself, which is kept
};

struct Recipe {
  std::string name;
  std::string description;
  std::string source;
  Precision values;  // in what operators leave their results, other than below
  // What products (matrix products and convolutions) read. None: as it comes.
  std::optional<OperandFormat> weights, activations, gradients;
  // What lies between operators, where not `values`: activations and gradients are stored so, and products write
  // accumulators that are converted (integer-only training). None: `values`.
  std::optional<OperandFormat> stored_values;
  // What products sum in and, without stored_values, leave where that is narrower than `values`.
  ElementType accumulators = ElementType::float32;
  std::optional<OperandFormat> master;  // weights as the optimizer keeps them; none: `values`' parameters
  std::optional<ElementType> optimizer_state;
  std::optional<ElementType> weight_gradients;
  Copies copies = Copies::stored;
  std::vector<std::string> keep;  // patterns of nodes whose operands are not quantized
  bool attention = false;         // the products inside attention too: it is written as products and a softmax
  // Products of wider numbers run in this; their operands stay as they are and are rounded on the way in. None: in what
  // they are.
  std::optional<ElementType> products;
  // Every tensor of the finished step, whatever it is, has this width, and nothing converts; then all of the above but
  // `products` has no meaning. Nothing trains so: it is how published models count.
  std::optional<ElementType> everything;

  // Products that read numbers without blocks (depthwise, attention) may run in blocks on units that have nothing else:
  // other products do by this recipe.
  bool to_blocks() const {
    const auto blocks = [](const std::optional<OperandFormat>& operand) {
      return operand && operand->number.format.is_scaled() && operand->number.format.grouping == Grouping::block;
    };
    return blocks(weights) || blocks(activations) || blocks(gradients);
  }

  // Something beyond `values` is asked for.
  bool quantizes() const {
    return weights || activations || gradients || stored_values || master || optimizer_state || weight_gradients;
  }
};

// Whether it is the path of a file, and no recipe's name: it ends in .yaml or .yml.
bool is_recipe_file(const std::string& name_or_path);
// fp8, int16, int8, int4: every element at that width, a recipe of `everything` without a file.
const std::vector<std::string>& width_names();
bool is_width(const std::string& name);
// A recipe's name, a width's, or the path of a file.
Expected<Recipe> read_recipe(const std::string& name_or_path);
// `text` of a file; `place` names it in messages.
Expected<Recipe> parse_recipe(std::string_view text, const std::string& place);

// Those that are part of the program, in the order in which they are listed.
std::vector<std::string> recipe_names();
const std::vector<NumberFormat>& number_formats();

}  // namespace monet::training
