#include "present/json/json.h"

#include <monet/precision.h>
#include <monet/text.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monet {

namespace {

using enum Table::Align;

std::string number_text(double number) { return fmt::format("{:.6g}", number); }

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

Text formats_table(const std::vector<FormatSummary>& formats) {
  Table table({{"format"},
               {"element"},
               {"bits", right},
               {"groups"},
               {"scale"},
               {"largest", right},
               {"smallest", right},
               {"description"}});
  for (const FormatSummary& format : formats) {
    table.add({format.name, format.element, number_text(format.bits), or_dash(format.groups), or_dash(format.scale),
               number_text(format.largest), number_text(format.smallest), format.description});
  }
  return table;
}

Text recipes_table(const std::vector<RecipeSummary>& recipes) {
  Table table(
      {{"recipe"}, {"values"}, {"weights"}, {"activations"}, {"gradients"}, {"sums"}, {"copies"}, {"description"}});
  for (const RecipeSummary& recipe : recipes) {
    table.add({recipe.name, recipe.stored_values.empty() ? recipe.values : recipe.stored_values,
               or_dash(recipe.weights), or_dash(recipe.activations), or_dash(recipe.gradients), recipe.accumulators,
               or_dash(recipe.copies), recipe.description});
  }
  return table;
}

Json json_of(const FormatSummary& format) {
  return {{"name", format.name},       {"description", format.description}, {"element", format.element},
          {"bits", format.bits},       {"groups", format.groups},           {"scale", format.scale},
          {"largest", format.largest}, {"smallest", format.smallest},       {"source", format.source}};
}

Json json_of(const RecipeSummary& recipe) {
  return {{"name", recipe.name},
          {"description", recipe.description},
          {"values", recipe.values},
          {"stored_values", recipe.stored_values},
          {"weights", recipe.weights},
          {"activations", recipe.activations},
          {"gradients", recipe.gradients},
          {"weight_gradients", recipe.weight_gradients},
          {"master", recipe.master},
          {"optimizer_state", recipe.optimizer_state},
          {"accumulators", recipe.accumulators},
          {"copies", recipe.copies},
          {"keep", recipe.keep},
          {"attention", recipe.attention},
          {"source", recipe.source}};
}

Json json_of(const std::vector<FormatSummary>& formats) {
  Json list = Json::array();
  for (const FormatSummary& format : formats) list.push_back(json_of(format));
  return list;
}

std::string lines_of(const std::vector<std::pair<const char*, std::string>>& lines) {
  std::string text;
  for (const auto& [title, value] : lines)
    if (!value.empty()) text += fmt::format("{:<17} {}\n", title, value);
  return text;
}

std::string text_of(const RecipeSummary& recipe) {
  return fmt::format("{}\n", recipe.name) + (recipe.description.empty() ? "" : recipe.description + "\n") +
         lines_of({{"values", recipe.values},
                   {"stored values", recipe.stored_values},
                   {"weights", recipe.weights},
                   {"activations", recipe.activations},
                   {"gradients", recipe.gradients},
                   {"weight gradients", recipe.weight_gradients},
                   {"master weights", recipe.master},
                   {"optimizer state", recipe.optimizer_state},
                   {"accumulators", recipe.accumulators},
                   {"copies", recipe.copies},
                   {"attention", recipe.attention ? "quantized too" : ""},
                   {"kept as they are", fmt::format("{}", fmt::join(recipe.keep, ", "))},
                   {"source", recipe.source}});
}

std::string text_of(const FormatSummary& format) {
  return fmt::format("{}\n", format.name) + (format.description.empty() ? "" : format.description + "\n") +
         lines_of({{"element", format.element},
                   {"groups", format.groups},
                   {"scale", format.scale},
                   {"bits an element", number_text(format.bits)},
                   {"largest", number_text(format.largest)},
                   {"smallest", number_text(format.smallest)},
                   {"source", format.source}});
}

}  // namespace

Text to_text(const std::vector<FormatSummary>& formats, const std::vector<RecipeSummary>& recipes) {
  return formats_table(formats) + "\n" + recipes_table(recipes);
}

std::string to_json(const std::vector<FormatSummary>& formats, const std::vector<RecipeSummary>& recipes) {
  Json json = {{"schema", 1}, {"command", "precision list"}, {"formats", json_of(formats)}};
  json["recipes"] = Json::array();
  for (const RecipeSummary& recipe : recipes) json["recipes"].push_back(json_of(recipe));
  return text_of(json);
}

Text to_text(const PrecisionReport& report) {
  if (!report.recipe) return text_of(report.formats.front());
  return text_of(*report.recipe) + (report.formats.empty() ? "" : "\n" + formats_table(report.formats));
}

std::string to_json(const PrecisionReport& report) {
  Json json = {{"schema", 1}, {"command", "precision show"}};
  json["recipe"] = report.recipe ? json_of(*report.recipe) : Json();
  json["formats"] = json_of(report.formats);
  return text_of(json);
}

}  // namespace monet
