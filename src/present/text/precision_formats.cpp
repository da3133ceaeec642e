#include "base/suggest.h"
#include "base/try.h"
#include "graph/number.h"
#include "present/json/json.h"
#include "training/recipe.h"

#include <monet/precision.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet {

namespace {

using training::NumberFormat;
using training::OperandFormat;
using training::Recipe;

std::string groups_of(const Format& format) {
  if (!format.is_scaled()) return "";
  if (format.grouping == Grouping::tensor) return "tensor";
  if (format.grouping == Grouping::channel) return "channel";
  std::string text = format.group_rows > 1 ? fmt::format("{}x{}", format.group_rows, format.group_size)
                                           : fmt::format("{}", format.group_size);
  if (format.subscale_bits > 0) text += fmt::format(", {}", format.subgroup_size);
  return text;
}

std::string scale_of(const Format& format) {
  if (!format.is_scaled()) return "";
  std::string text = format.scale == ElementType::float8e8m0 ? "e8m0" : std::string(name_of(format.scale));
  if (format.subscale_bits > 0) text += fmt::format(", {} bit", format.subscale_bits);
  return format.tensor_scale_bits > 0 ? text + ", fp32" : text;
}

// Integers under a power of two are fixed point: the largest is just below 2.
bool is_fixed_point(const Format& format) {
  return format.is_scaled() && is_integer(format.element) && format.scale == ElementType::float8e8m0;
}

double smallest_number(ElementType type) {
  if (!is_floating(type)) return 1;
  if (type == ElementType::float64) return std::numeric_limits<double>::denorm_min();
  return decoded(type == ElementType::float8e8m0 ? 0 : 1, type);
}

FormatSummary summarize(const NumberFormat& number) {
  const Format& format = number.format;
  FormatSummary summary{.name = number.name,
                        .description = number.description,
                        .element = std::string(name_of(format.element)),
                        .bits = stored_bits(format),
                        .groups = groups_of(format),
                        .scale = scale_of(format),
                        .largest = largest_number(format.element),
                        .smallest = smallest_number(format.element),
                        .source = number.source};
  if (!is_fixed_point(format)) return summary;
  const double step = std::ldexp(1, 2 - bits_of(format.element));
  summary.largest *= step;
  summary.smallest *= step;
  return summary;
}

std::string operand_text(const std::optional<OperandFormat>& operand) {
  if (!operand) return "";
  return operand->number.name + (operand->rounding == Rounding::stochastic ? " stochastic" : "");
}

std::string element_text(const std::optional<ElementType>& type) { return type ? std::string(name_of(*type)) : ""; }

RecipeSummary summarize(const Recipe& recipe) {
  const bool grouped = recipe.weights || recipe.activations || recipe.gradients;
  return {.name = recipe.name,
          .description = recipe.description,
          .source = recipe.source,
          .values = fmt::format("{}{}", recipe.values.mixed ? "mixed " : "", name_of(recipe.values.compute)),
          .stored_values = operand_text(recipe.stored_values),
          .weights = operand_text(recipe.weights),
          .activations = operand_text(recipe.activations),
          .gradients = operand_text(recipe.gradients),
          .weight_gradients = element_text(recipe.weight_gradients),
          .master = operand_text(recipe.master),
          .optimizer_state = element_text(recipe.optimizer_state),
          .accumulators = std::string(name_of(recipe.accumulators)),
          .copies = !grouped                                    ? ""
                    : recipe.copies == training::Copies::stored ? "stored"
                                                                : "requantized",
          .keep = recipe.keep,
          .attention = recipe.attention};
}

// Each once, in the order in which the recipe names them.
std::vector<FormatSummary> formats_of(const Recipe& recipe) {
  std::vector<FormatSummary> formats;
  for (const auto* operand :
       {&recipe.stored_values, &recipe.weights, &recipe.activations, &recipe.gradients, &recipe.master}) {
    if (!*operand) continue;
    const NumberFormat& number = (*operand)->number;
    if (std::ranges::find(formats, number.name, &FormatSummary::name) == formats.end())
      formats.push_back(summarize(number));
  }
  return formats;
}

Error unknown(const std::string& name) {
  std::vector<std::string> names = training::recipe_names();
  for (const NumberFormat& number : training::number_formats()) names.push_back(number.name);
  const std::string guess = nearest(name, names);
  return {.message = fmt::format("there is no recipe and no format '{}'", name),
          .place = "monet precision show",
          .advice = guess.empty() ? "monet precision list has all; a file of your own ends in .yaml"
                                  : fmt::format("did you mean '{}'?", guess)};
}

}  // namespace

std::vector<FormatSummary> number_formats() {
  std::vector<FormatSummary> formats;
  for (const NumberFormat& number : training::number_formats()) formats.push_back(summarize(number));
  return formats;
}

Expected<std::vector<RecipeSummary>> recipes() {
  std::vector<RecipeSummary> summaries;
  for (const std::string& name : training::recipe_names()) {
    MONET_TRY(const Recipe recipe, training::read_recipe(name));
    summaries.push_back(summarize(recipe));
  }
  return summaries;
}

Expected<PrecisionReport> describe_precision(const std::string& name_or_path) {
  const std::vector<std::string> names = training::recipe_names();
  const bool is_file = name_or_path.ends_with(".yaml") || name_or_path.ends_with(".yml");
  if (is_file || std::ranges::find(names, name_or_path) != names.end()) {
    MONET_TRY(const Recipe recipe, training::read_recipe(name_or_path));
    PrecisionReport report{.recipe = summarize(recipe), .formats = formats_of(recipe)};
    // Some formats have a recipe of their name.
    const auto& all = training::number_formats();
    const auto same = std::ranges::find(all, name_or_path, &NumberFormat::name);
    if (same != all.end() &&
        std::ranges::find(report.formats, name_or_path, &FormatSummary::name) == report.formats.end())
      report.formats.push_back(summarize(*same));
    return report;
  }
  for (const NumberFormat& number : training::number_formats())
    if (number.name == name_or_path) return PrecisionReport{.recipe = {}, .formats = {summarize(number)}};
  if (const auto format = parse_format(name_or_path))
    return PrecisionReport{.recipe = {}, .formats = {summarize(NumberFormat{name_or_path, *format, {}, {}})}};
  return unknown(name_or_path);
}

}  // namespace monet
