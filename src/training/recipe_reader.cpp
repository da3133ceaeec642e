#include "training/recipe_reader.h"

#include "base/try.h"
#include "config/check_keys.h"
#include "config/yaml_values.h"
#include "training/recipe_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace monet::training {

namespace {

constexpr std::size_t longest_path = 4096;
constexpr std::size_t most_bases = 16;
constexpr std::size_t most_patterns = 1000;

const std::vector<std::string>& keys() {
  static const std::vector<std::string> all = {
      "monet",       "description", "source",        "base",         "formats",   "values",          "weights",
      "activations", "gradients",   "stored_values", "accumulators", "master",    "optimizer_state", "weight_gradients",
      "copies",      "keep",        "attention",     "products",     "everything"};
  return all;
}

std::string what(std::string_view key) { return fmt::format("'{}' of a recipe", key); }

// A recipe under construction, with the formats that it may name.
struct Draft {
  Recipe recipe;
  std::vector<NumberFormat> formats;
};

class RecipeReader {
 public:
  // `chain`: the files that are being read, the outermost first.
  RecipeReader(const Yaml& root, std::string place, std::vector<std::string> chain)
      : root_(root), place_(std::move(place)), chain_(std::move(chain)) {}

  Expected<Draft> read() {
    MONET_RETURN_IF_ERROR(check_keys_of(root_, "a recipe", keys()));
    MONET_RETURN_IF_ERROR(check_version());
    draft_.formats = number_formats();
    if (const Yaml* base = root_.find("base")) MONET_RETURN_IF_ERROR(read_base(*base));
    if (const Yaml* formats = root_.find("formats")) {
      MONET_TRY(std::vector<NumberFormat> own, read_formats(*formats, draft_.formats));
      std::ranges::move(own, std::back_inserter(draft_.formats));
    }
    MONET_RETURN_IF_ERROR(read_texts());
    MONET_RETURN_IF_ERROR(read_numbers());
    MONET_RETURN_IF_ERROR(read_rest());
    MONET_RETURN_IF_ERROR(read_arithmetic());
    MONET_RETURN_IF_ERROR(check_integers());
    return std::move(draft_);
  }

 private:
  Status check_version() const {
    const Yaml* version = root_.find("monet");
    if (version == nullptr)
      return error_at(root_.place, "a recipe without 'monet'", "write monet: 1 as its first line");
    if (version->is_scalar() && version->scalar == "1") return Done{};
    return error_at(version->place, "this program reads version 1 of recipes", "write monet: 1");
  }

  Status read_base(const Yaml& node);

  Status read_texts() {
    // Of the base only what it does is taken over.
    draft_.recipe.description.clear();
    draft_.recipe.source.clear();
    for (auto [key, text] :
         {std::pair("description", &draft_.recipe.description), std::pair("source", &draft_.recipe.source)}) {
      if (const Yaml* node = root_.find(key)) {
        MONET_TRY(*text, read_word(*node, what(key), longest_recipe_text));
      }
    }
    return Done{};
  }

  Expected<NumberFormat> named(const Yaml& node, std::string_view key) const {
    MONET_TRY(const std::string name, read_word(node, what(key)));
    const auto found = std::ranges::find(draft_.formats, name, &NumberFormat::name);
    if (found != draft_.formats.end()) return *found;
    std::vector<std::string> names;
    for (const NumberFormat& each : draft_.formats) names.push_back(each.name);
    return error_at(node.place, fmt::format("{}: there is no format '{}'", what(key), shown(name)),
                    meant_name(name, names));
  }

  // A format without groups.
  Expected<ElementType> plain(const Yaml& node, std::string_view key) const {
    MONET_TRY(const NumberFormat number, named(node, key));
    if (!number.format.is_scaled()) return number.format.element;
    return error_at(node.place, fmt::format("{} cannot be '{}', which has scales", what(key), number.name),
                    "use a plain one: fp32, bf16, fp16, int32 …");
  }

  Status read_optional(std::string_view key, std::optional<ElementType>& type) const {
    const Yaml* node = root_.find(key);
    if (node == nullptr) return Done{};
    type.reset();
    if (is_none(*node)) return Done{};
    MONET_TRY(type, plain(*node, key));
    return Done{};
  }

  static bool is_none(const Yaml& node) { return node.is_scalar() && node.scalar == "none"; }

  Status read_optional(std::string_view key, std::optional<OperandFormat>& operand) const {
    const Yaml* node = root_.find(key);
    if (node == nullptr) return Done{};
    operand.reset();
    if (is_none(*node)) return Done{};
    OperandFormat result;
    const Yaml* format = node;
    if (node->is_map()) {
      MONET_RETURN_IF_ERROR(check_keys_of(*node, what(key), {"format", "rounding"}));
      format = node->find("format");
      if (format == nullptr) {
        return error_at(node->place, fmt::format("{} has no format", what(key)), "write {format: mxfp4, …}");
      }
      if (const Yaml* rounding = node->find("rounding")) {
        MONET_TRY(const std::string word, read_one_of(*rounding, "'rounding'", {"nearest", "stochastic"}));
        if (word == "stochastic") result.rounding = Rounding::stochastic;
      }
    }
    MONET_TRY(result.number, named(*format, key));
    if (!result.number.format.is_real()) {
      return error_at(
          format->place,
          fmt::format("{} cannot be '{}': integers without a scale are no real numbers", what(key), result.number.name),
          "use int8_tensor, int8_channel, int8_shift or mxint8");
    }
    operand = std::move(result);
    return Done{};
  }

  Status read_values(const Yaml& node) {
    Precision& values = draft_.recipe.values;
    values = {};
    const Yaml* compute = &node;
    if (node.is_map()) {
      MONET_RETURN_IF_ERROR(check_keys_of(node, what("values"), {"compute", "mixed", "loss_scale"}));
      compute = node.find("compute");
      if (compute == nullptr) {
        return error_at(node.place, "'values' of a recipe has no 'compute'", "write {compute: bf16, mixed: true}");
      }
      if (const Yaml* mixed = node.find("mixed")) {
        MONET_TRY(values.mixed, read_switch(*mixed, "'mixed'"));
      }
      if (const Yaml* scale = node.find("loss_scale")) {
        MONET_TRY(values.default_loss_scale, read_real(*scale, "'loss_scale'", 0));
        if (values.default_loss_scale == 0) return error_at(scale->place, "a loss scale of 0 leaves nothing", "use 1");
      }
    }
    MONET_TRY(values.compute, plain(*compute, "values"));
    if (is_floating(values.compute)) return Done{};
    return error_at(compute->place, "'values' of a recipe must be floating-point numbers",
                    "use fp32, bf16 or fp16; integers are for weights, activations, gradients and stored_values");
  }

  Status read_numbers() {
    Recipe& recipe = draft_.recipe;
    if (const Yaml* values = root_.find("values")) MONET_RETURN_IF_ERROR(read_values(*values));
    for (auto [key, operand] :
         {std::pair("weights", &recipe.weights), std::pair("activations", &recipe.activations),
          std::pair("gradients", &recipe.gradients), std::pair("stored_values", &recipe.stored_values),
          std::pair("master", &recipe.master)}) {
      MONET_RETURN_IF_ERROR(read_optional(key, *operand));
    }
    if (const Yaml* accumulators = root_.find("accumulators")) {
      MONET_TRY(recipe.accumulators, plain(*accumulators, "accumulators"));
    }
    MONET_RETURN_IF_ERROR(read_optional("optimizer_state", recipe.optimizer_state));
    return read_optional("weight_gradients", recipe.weight_gradients);
  }

  Status read_rest() {
    Recipe& recipe = draft_.recipe;
    if (const Yaml* copies = root_.find("copies")) {
      MONET_TRY(const std::string word, read_one_of(*copies, what("copies"), {"stored", "requantized"}));
      recipe.copies = word == "stored" ? Copies::stored : Copies::requantized;
    }
    if (const Yaml* keep = root_.find("keep")) {
      recipe.keep.clear();
      for (const Yaml* item : one_or_more(*keep)) {
        MONET_TRY(std::string pattern, read_word(*item, what("keep"), longest_path));
        recipe.keep.push_back(std::move(pattern));
      }
      if (recipe.keep.size() > most_patterns) {
        return error_at(keep->place, fmt::format("more than {} patterns to keep", most_patterns), "use * and ?");
      }
    }
    if (const Yaml* attention = root_.find("attention")) {
      MONET_TRY(recipe.attention, read_switch(*attention, what("attention")));
    }
    return Done{};
  }

  // Also of a format that no list has: int7.
  Status read_element(std::string_view key, std::optional<ElementType>& type) const {
    const Yaml* node = root_.find(key);
    if (node == nullptr) return Done{};
    type.reset();
    if (is_none(*node)) return Done{};
    MONET_TRY(const std::string name, read_word(*node, what(key)));
    type = element_type_named(name);
    if (type) return Done{};
    return error_at(node->place, fmt::format("{}: there are no numbers '{}'", what(key), shown(name)),
                    "write fp32, bf16, fp16, tf32, fp8e4m3, int16, int8 …");
  }

  Status read_arithmetic() {
    MONET_RETURN_IF_ERROR(read_element("products", draft_.recipe.products));
    MONET_RETURN_IF_ERROR(read_element("everything", draft_.recipe.everything));
    if (!draft_.recipe.everything) return Done{};
    for (const char* key : {"values", "weights", "activations", "gradients", "stored_values", "master",
                            "optimizer_state", "weight_gradients", "accumulators", "attention"}) {
      if (const Yaml* node = root_.find(key)) {
        return error_at(node->place, fmt::format("{} has no meaning beside 'everything'", what(key)),
                        "leave one of them out");
      }
    }
    return Done{};
  }

  // Integers need others beside them to be told from each other.
  Status check_integers() const {
    const Recipe& recipe = draft_.recipe;
    if (is_floating(recipe.accumulators) || recipe.stored_values) return Done{};
    const Yaml* node = root_.find("accumulators");
    return error_at(node == nullptr ? root_.place : node->place,
                    "integer accumulators need 'stored_values': what they are converted to",
                    "write stored_values: int8_shift");
  }

  const Yaml& root_;
  std::string place_;
  std::vector<std::string> chain_;
  Draft draft_;
};

Expected<Draft> read_draft(std::string_view text, const std::string& place, std::vector<std::string> chain) {
  MONET_TRY(const YamlPtr root, parse_yaml(std::string(text), place, recipe_file_kind));
  return RecipeReader(*root, place, std::move(chain)).read();
}

Status RecipeReader::read_base(const Yaml& node) {
  MONET_TRY(std::string name, read_word(node, what("base"), longest_path));
  const std::vector<std::string> known = recipe_names();
  const std::filesystem::path path = name;
  const bool is_file = is_recipe_file(name);
  if (!is_file && std::ranges::find(known, name) == known.end()) {
    return error_at(node.place, fmt::format("there is no recipe '{}'", shown(name)), meant_name(name, known));
  }
  if (is_file && path.is_relative())
    name = (std::filesystem::path(place_).parent_path() / path).lexically_normal().string();
  if (std::ranges::find(chain_, name) != chain_.end()) {
    return error_at(node.place, fmt::format("'{}' is its own base", shown(name)), "name another recipe");
  }
  if (chain_.size() == most_bases) {
    return error_at(node.place, fmt::format("more than {} recipes are based on each other", most_bases),
                    "state the keys in fewer files");
  }
  auto found = recipe_text(name);
  if (!found)
    return error_at(node.place, fmt::format("'{}': {}", shown(name), found.error().message), found.error().advice);
  chain_.push_back(name);
  MONET_TRY(draft_, read_draft(found->text, found->place, chain_));
  return Done{};
}

}  // namespace

Expected<Recipe> parse_recipe(std::string_view text, const std::string& place) {
  MONET_TRY(Draft draft, read_draft(text, place, {std::filesystem::path(place).lexically_normal().string()}));
  draft.recipe.name = std::filesystem::path(place).stem().string();
  return std::move(draft.recipe);
}

}  // namespace monet::training
