#include "cli/words.h"

#include "base/suggest.h"
#include "networks/builtin.h"
#include "training/recipe.h"

#include <monet/explore.h>
#include <monet/hardware.h>
#include <monet/validate.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace monet::cli {

namespace {

// The parser keeps a validator's name, and nothing else that could tell it from others: words are joined into it.
constexpr std::string_view only_mark = "one of:", such_mark = "such as:", name_mark = "name:";

constexpr std::array<Offer, 5> named = {Offer::networks, Offer::machines, Offer::spaces, Offer::recipes,
                                        Offer::validations};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

CLI::Validator with_words(std::string_view mark, const std::vector<std::string>& words,
                          std::function<std::string(std::string&)> check) {
  return {std::move(check), "", fmt::format("{}{}", mark, fmt::join(words, ","))};
}

std::vector<CLI::Validator*> validators_of(CLI::Option& option) {
  std::vector<CLI::Validator*> all;
  try {
    for (int i = 0;; ++i) all.push_back(option.get_validator(i));
  } catch (const CLI::OptionNotFound&) {
    return all;  // the only way to learn how many there are
  }
}

}  // namespace

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& word) -> std::string {
    if (std::ranges::find(words, word) != words.end()) return "";
    const std::string guess = nearest(word, words);
    return fmt::format("there is no '{}' ({})", word,
                       guess.empty() ? fmt::format("choose one of {}", fmt::join(words, ", "))
                                     : fmt::format("did you mean '{}'?", guess));
  };
  return with_words(only_mark, words, check);
}

CLI::Validator such_as(const std::vector<std::string>& words) {
  return with_words(such_mark, words, [](const std::string&) { return std::string(); });
}

CLI::Validator name_or_file(Offer offer) {
  return {[](const std::string&) { return std::string(); }, "",
          fmt::format("{}{}", name_mark, static_cast<int>(offer))};
}

Offered offered_by(CLI::Option& option) {
  for (const CLI::Validator* validator : validators_of(option)) {
    const std::string_view name = validator->get_name();
    if (name.starts_with(only_mark)) return {Offer::words, split(name.substr(only_mark.size())), true};
    if (name.starts_with(such_mark)) return {Offer::words, split(name.substr(such_mark.size())), false};
    for (const Offer offer : named)
      if (name == fmt::format("{}{}", name_mark, static_cast<int>(offer))) return {offer, names_of(offer), false};
  }
  const std::string type = option.get_type_name();
  const auto is = [&](std::string_view word) { return type.find(word) != std::string::npos; };
  if (is("DIR")) return {Offer::folders, {}, false};
  if (is("FILE") || is("PLAN") || is("STORE") || is("OUT.") || is("FOLDER") || is("PROGRAM"))
    return {Offer::files, {}, false};
  return {};
}

std::vector<std::string> names_of(Offer offer) {
  std::vector<std::string> names;
  if (offer == Offer::networks) {
    for (const BuiltinInfo& network : builtin_networks()) names.push_back(network.name);
  } else if (offer == Offer::machines) {
    if (const auto presets = list_hardware())
      for (const PresetSummary& preset : *presets) names.push_back(preset.name);
  } else if (offer == Offer::spaces) {
    if (const auto spaces = builtin_spaces())
      for (const SpaceInfo& space : *spaces) names.push_back(space.name);
  } else if (offer == Offer::recipes) {
    names = training::recipe_names();
  } else if (offer == Offer::validations) {
    for (const ValidationInfo& validation : validations()) names.push_back(validation.name);
  }
  return names;
}

}  // namespace monet::cli
