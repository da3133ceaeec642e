#include "base/suggest.h"
#include "base/text.h"
#include "base/try.h"
#include "config/ranges.h"
#include "config/yaml_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace monet {

namespace {

std::string described(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null: return "nothing";
    case YamlNode::Kind::sequence: return "a list";
    case YamlNode::Kind::map: return "a block of keys";
    case YamlNode::Kind::scalar: break;
  }
  constexpr std::size_t shown = 60;
  return node.text.size() > shown ? fmt::format("'{}…'", node.text.substr(0, shown)) : fmt::format("'{}'", node.text);
}

std::optional<double> parse_number(std::string_view text) {
  if (text.empty() || text.size() > 100 || text.front() == '_' || text.back() == '_') return std::nullopt;
  std::string digits;
  for (const char c : text)
    if (c != '_') digits += c;
  const char* begin = digits.data() + (digits.front() == '+' ? 1 : 0);
  double value = 0;
  const auto [end, problem] = std::from_chars(begin, digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

std::string advise_choice(std::string_view word, std::span<const std::string> choices) {
  const std::string guess = nearest(word, choices);
  if (!guess.empty()) return fmt::format("did you mean '{}'?", guess);
  return fmt::format("one of {}", fmt::join(choices, ", "));
}

Expected<std::string> yaml_word(const YamlNode& node, std::string_view what) {
  if (node.is_scalar() && !node.text.empty()) return node.text;
  return node.error(fmt::format("{} must be a word, but is {}", what, described(node)), "write one word or number");
}

Expected<double> yaml_number(const YamlNode& node, std::string_view what, double least) {
  const auto value = node.is_scalar() ? parse_number(node.text) : std::nullopt;
  if (value && *value >= least) {
    const Status status = check_range(*value, Measure::number, node.text);
    if (!status) return node.error(fmt::format("{}: {}", what, status.error().message), status.error().advice);
    return *value;
  }
  return node.error(fmt::format("{} must be a number of at least {}, but is {}", what, least, described(node)),
                    "write a plain number, as 416.16");
}

Expected<std::int64_t> yaml_integer(const YamlNode& node, std::string_view what, std::int64_t least,
                                    std::int64_t most) {
  // Exact in a double.
  const auto value = node.is_scalar() ? parse_number(node.text) : std::nullopt;
  if (value && *value == std::floor(*value) && *value >= static_cast<double>(least) &&
      *value <= static_cast<double>(most)) {
    return static_cast<std::int64_t>(*value);
  }
  return node.error(fmt::format("{} must be a whole number, but is {}", what, described(node)),
                    fmt::format("from {} to {}", least, most));
}

Expected<bool> yaml_switch(const YamlNode& node, std::string_view what) {
  for (const char* yes : {"true", "True", "TRUE", "yes", "Yes", "on"})
    if (node.is_scalar() && node.text == yes) return true;
  for (const char* no : {"false", "False", "FALSE", "no", "No", "off"})
    if (node.is_scalar() && node.text == no) return false;
  return node.error(fmt::format("{} must be true or false, but is {}", what, described(node)), "write true or false");
}

Expected<std::vector<std::string>> yaml_words(const YamlNode& node, std::string_view what) {
  MONET_RETURN_IF_ERROR(expect_sequence(node, what));
  std::vector<std::string> words;
  for (const YamlNode& item : node.items) {
    MONET_TRY(std::string word, yaml_word(item, fmt::format("an entry of {}", what)));
    words.push_back(std::move(word));
  }
  return words;
}

Expected<std::vector<std::string>> yaml_parts(const YamlNode& node, std::string_view what) {
  if (node.is_sequence()) return yaml_words(node, what);
  MONET_TRY(const std::string text, yaml_word(node, what));
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    parts.emplace_back(trimmed(std::string_view(text).substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return parts;
}

Status expect_map(const YamlNode& node, std::string_view what) {
  if (node.is_map()) return Done{};
  return node.error(fmt::format("{} must be a block of keys, but is {}", what, described(node)),
                    "write 'key: value' lines, indented");
}

Status expect_sequence(const YamlNode& node, std::string_view what) {
  if (node.is_sequence()) return Done{};
  return node.error(fmt::format("{} must be a list, but is {}", what, described(node)), "write [a, b] or '- a' lines");
}

Status allow_keys(const YamlNode& map, std::string_view what, std::span<const std::string> allowed) {
  MONET_RETURN_IF_ERROR(expect_map(map, what));
  for (const YamlNode& key : map.keys) {
    if (std::find(allowed.begin(), allowed.end(), key.text) != allowed.end()) continue;
    return key.error(fmt::format("{} has no key {}", what, described(key)), advise_choice(key.text, allowed));
  }
  return Done{};
}

Expected<const YamlNode*> require_key(const YamlNode& map, std::string_view what, std::string_view key) {
  MONET_RETURN_IF_ERROR(expect_map(map, what));
  if (const YamlNode* value = map.find(key); value != nullptr && !value->is_null()) return value;
  return map.error(fmt::format("{} lacks '{}'", what, key), fmt::format("add a line '{}: …'", key));
}

}  // namespace monet
