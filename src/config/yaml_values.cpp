#include "config/yaml_values.h"

#include "config/check_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace monet {

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Error error_at(const Place& place, std::string message, std::string advice) {
  return {.message = std::move(message), .place = place.text(), .advice = std::move(advice)};
}

Error wrong_form(const Yaml& node, const std::string& what, std::string_view expected) {
  return error_at(node.place, fmt::format("{} is {}", what, name_of(node.kind)), fmt::format("write {}", expected));
}

Status check_keys_of(const Yaml& node, const std::string& what, const std::vector<std::string>& keys) {
  if (!node.is_map()) return wrong_form(node, what, fmt::format("a block of keys: {}", fmt::join(keys, ", ")));
  for (const Yaml::Entry& entry : node.entries) {
    if (std::ranges::find(keys, entry.key) == keys.end()) {
      return error_at(entry.place, fmt::format("unknown key '{}' in {}", shown(entry.key), what),
                      meant_name(entry.key, keys));
    }
    if (entry.value->kind == YamlKind::nothing) {
      return error_at(entry.place, fmt::format("'{}' has no value", entry.key), "remove it or state it");
    }
  }
  return Done{};
}

Expected<std::string> read_word(const Yaml& node, const std::string& what, std::size_t longest) {
  if (!node.is_scalar() || node.scalar.empty()) return wrong_form(node, what, "one text");
  if (node.scalar.size() > longest) {
    return error_at(node.place, fmt::format("{} has {} characters", what, node.scalar.size()),
                    fmt::format("at most {}", longest));
  }
  return node.scalar;
}

Expected<std::int64_t> read_whole(const Yaml& node, const std::string& what, std::int64_t least, std::int64_t most) {
  const std::string expected = fmt::format("write a whole number from {} to {}", least, most);
  if (!node.is_scalar()) return wrong_form(node, what, "one whole number");
  std::int64_t number = 0;
  const char* const end = node.scalar.data() + node.scalar.size();
  const auto [stop, problem] = std::from_chars(node.scalar.data(), end, number);
  if (stop != end || problem == std::errc::invalid_argument) {
    return error_at(node.place, fmt::format("{}: '{}' is not a whole number", what, shown(node.scalar)), expected);
  }
  if (problem != std::errc() || number < least || number > most) {
    return error_at(node.place, fmt::format("{} cannot be {}", what, shown(node.scalar)), expected);
  }
  return number;
}

Expected<double> read_real(const Yaml& node, const std::string& what, double least) {
  if (!node.is_scalar()) return wrong_form(node, what, "one number");
  double number = 0;
  const char* const end = node.scalar.data() + node.scalar.size();
  const auto [stop, problem] = std::from_chars(node.scalar.data(), end, number);
  if (stop != end || problem != std::errc() || !std::isfinite(number)) {
    return error_at(node.place, fmt::format("{}: '{}' is not a number", what, shown(node.scalar)),
                    "write a number without a unit, for example 0.25");
  }
  if (number < least) {
    return error_at(node.place, fmt::format("{} cannot be {}", what, shown(node.scalar)),
                    fmt::format("at least {}", least));
  }
  return number;
}

Expected<bool> read_switch(const Yaml& node, const std::string& what) {
  if (node.is_scalar() && (node.scalar == "true" || node.scalar == "false")) return node.scalar == "true";
  if (!node.is_scalar()) return wrong_form(node, what, "true or false");
  return error_at(node.place, fmt::format("{}: '{}' is neither true nor false", what, shown(node.scalar)),
                  "write true or false");
}

Expected<std::string> read_one_of(const Yaml& node, const std::string& what, const std::vector<std::string>& words) {
  if (!node.is_scalar()) return wrong_form(node, what, fmt::format("one of: {}", fmt::join(words, ", ")));
  if (std::ranges::find(words, node.scalar) != words.end()) return node.scalar;
  return error_at(node.place, fmt::format("{} cannot be '{}'", what, shown(node.scalar)),
                  meant_name(node.scalar, words));
}

std::vector<const Yaml*> one_or_more(const Yaml& node) {
  if (!node.is_list()) return {&node};
  std::vector<const Yaml*> items;
  for (const YamlPtr& item : node.items) items.push_back(item.get());
  return items;
}

}  // namespace monet
