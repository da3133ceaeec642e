#include "training/recipe_formats.h"

#include "base/try.h"
#include "config/check_keys.h"
#include "config/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace monet::training {

namespace {

constexpr int largest_side = 4096;  // of a group

// Elements that can be rounded to: with a sign, and of at most 32 bits.
bool is_number(ElementType type) {
  return (is_floating(type) || is_signed_integer(type)) && bits_of(type) <= 32 && type != ElementType::float8e8m0;
}

Error unknown_element(const Yaml& node) {
  return error_at(node.place, fmt::format("'{}' is not an element type", shown(node.scalar)),
                  "use fp32, tf32, bf16, fp16, fp8e4m3, fp8e5m2, fp6e3m2, fp6e2m3, fp4e2m1, int8 …, or say what it "
                  "consists of: {exponent: 3, mantissa: 4} or {integer: 5}");
}

Expected<ElementType> read_float(const Yaml& node) {
  MONET_RETURN_IF_ERROR(check_keys_of(node, "an element", {"exponent", "mantissa", "specials"}));
  for (const char* key : {"exponent", "mantissa"}) {
    if (node.find(key) == nullptr) {
      return error_at(node.place, fmt::format("an element without '{}'", key), "write {exponent: 4, mantissa: 3}");
    }
  }
  MONET_TRY(const std::int64_t exponent, read_whole(*node.find("exponent"), "'exponent' of an element", 2, 8));
  MONET_TRY(const std::int64_t mantissa, read_whole(*node.find("mantissa"), "'mantissa' of an element", 0, 23));
  Specials specials = Specials::none;
  if (const Yaml* found = node.find("specials")) {
    MONET_TRY(const std::string word, read_one_of(*found, "'specials' of an element", {"none", "nan", "ieee"}));
    specials = word == "ieee" ? Specials::ieee : word == "nan" ? Specials::nan : Specials::none;
  }
  const auto type = float_element(static_cast<int>(exponent), static_cast<int>(mantissa), specials);
  if (type) return *type;
  return error_at(node.place, "an element without mantissa cannot tell infinity from what is not a number",
                  "write specials: none or nan, or give it a mantissa");
}

Expected<ElementType> read_element(const Yaml& node) {
  if (node.is_scalar()) {
    const auto type = element_type_named(node.scalar);
    if (!type || !is_number(*type)) return unknown_element(node);
    return *type;
  }
  if (!node.is_map()) return wrong_form(node, "'element' of a format", "a name, or {exponent: 4, mantissa: 3}");
  const Yaml* integer = node.find("integer");
  if (integer == nullptr) return read_float(node);
  MONET_RETURN_IF_ERROR(check_keys_of(node, "an element of integers", {"integer"}));
  MONET_TRY(const std::int64_t bits, read_whole(*integer, "'integer' of an element", 2, 32));
  return *integer_element(static_cast<int>(bits));
}

// "32" or "8x8".
bool read_block_group(std::string_view text, Format& format) {
  int sides[2] = {1, 1};
  const std::size_t cross = text.find('x');
  const std::string_view parts[2] = {cross == std::string_view::npos ? "1" : text.substr(0, cross),
                                     cross == std::string_view::npos ? text : text.substr(cross + 1)};
  for (int i = 0; i < 2; ++i) {
    const char* const begin = parts[i].data();
    const char* const end = begin + parts[i].size();
    const auto [stop, problem] = std::from_chars(begin, end, sides[i]);
    if (stop != end || problem != std::errc() || sides[i] < 1 || sides[i] > largest_side) return false;
  }
  if (sides[0] * sides[1] < 2) return false;
  format.group_rows = static_cast<std::uint16_t>(sides[0]);
  format.group_size = static_cast<std::uint16_t>(sides[1]);
  return true;
}

Status read_group(const Yaml& node, Format& format) {
  MONET_TRY(const std::string text, read_word(node, "'group' of a format"));
  if (text == "tensor") {
    format.grouping = Grouping::tensor;
  } else if (text == "channel") {
    format.grouping = Grouping::channel;
  } else if (!read_block_group(text, format)) {
    return error_at(node.place, fmt::format("'group' of a format cannot be '{}'", shown(text)),
                    fmt::format("write a number of elements from 2 to {0}, two of them as in 8x8, channel or tensor",
                                largest_side));
  }
  return Done{};
}

Status read_scale(const Yaml* node, Format& format) {
  if (node != nullptr) {
    MONET_TRY(const std::string text, read_word(*node, "'scale' of a format"));
    const auto type = text == "e8m0" ? ElementType::float8e8m0 : element_type_named(text);
    if (!type || !is_floating(*type) || bits_of(*type) > 32) {
      return error_at(node->place, fmt::format("'scale' of a format cannot be '{}'", shown(text)),
                      "use e8m0 (a power of two), fp32, bf16, fp16 or fp8e4m3");
    }
    format.scale = *type;
  }
  format.scale_bits = static_cast<std::uint8_t>(bits_of(format.scale));
  return Done{};
}

Status read_second_level(const Yaml& node, Format& format) {
  if (format.grouping != Grouping::block) {
    return error_at(node.place, "a second level needs groups of neighbours", "write group: 16");
  }
  if (node.is_scalar()) {
    MONET_RETURN_IF_ERROR(read_one_of(node, "'second_level' of a format", {"tensor"}));
    format.tensor_scale_bits = 32;
    return Done{};
  }
  MONET_RETURN_IF_ERROR(check_keys_of(node, "'second_level' of a format", {"bits", "elements"}));
  for (const char* key : {"bits", "elements"}) {
    if (node.find(key) == nullptr) {
      return error_at(node.place, fmt::format("a second level without '{}'", key), "write {bits: 1, elements: 2}");
    }
  }
  MONET_TRY(const std::int64_t bits, read_whole(*node.find("bits"), "'bits' of a second level", 1, 8));
  MONET_TRY(const std::int64_t elements, read_whole(*node.find("elements"), "'elements' of a second level", 1, 255));
  if (format.group_size % elements != 0) {
    return error_at(node.find("elements")->place,
                    fmt::format("groups of {} cannot be divided into parts of {}", format.group_size, elements),
                    "choose a divisor of the group");
  }
  format.subscale_bits = static_cast<std::uint8_t>(bits);
  format.subgroup_size = static_cast<std::uint8_t>(elements);
  return Done{};
}

Expected<NumberFormat> read_format(const Yaml::Entry& entry) {
  const Yaml& node = *entry.value;
  MONET_RETURN_IF_ERROR(check_keys_of(node, fmt::format("the format '{}'", shown(entry.key)),
                                      {"description", "element", "group", "scale", "second_level", "source"}));
  NumberFormat number{.name = entry.key, .format = {}, .description = {}, .source = {}};
  const Yaml* element = node.find("element");
  if (element == nullptr) {
    return error_at(entry.place, fmt::format("the format '{}' has no element", shown(entry.key)),
                    "write element: fp8e4m3");
  }
  MONET_TRY(number.format.element, read_element(*element));
  if (const Yaml* group = node.find("group")) {
    MONET_RETURN_IF_ERROR(read_group(*group, number.format));
    MONET_RETURN_IF_ERROR(read_scale(node.find("scale"), number.format));
    const Yaml* const second = node.find("second_level");
    if (second != nullptr) MONET_RETURN_IF_ERROR(read_second_level(*second, number.format));
    if (const std::string wrong = what_is_wrong(number.format); !wrong.empty()) {
      return error_at(second != nullptr ? second->place : group->place,
                      fmt::format("the format '{}' is not possible: {}", shown(entry.key), wrong),
                      number.format.subscale_bits > 0 ? "write scale: e8m0" : "write scale: fp8e4m3");
    }
  } else {
    for (const char* key : {"scale", "second_level"}) {
      if (const Yaml* found = node.find(key)) {
        return error_at(found->place, fmt::format("'{}' needs groups that share it", key),
                        "write group: 32, 8x8, channel or tensor");
      }
    }
  }
  for (auto [key, text] : {std::pair("description", &number.description), std::pair("source", &number.source)}) {
    if (const Yaml* found = node.find(key)) {
      MONET_TRY(*text, read_word(*found, fmt::format("'{}' of a format", key), longest_recipe_text));
    }
  }
  return number;
}

// A name may be part of a tensor's.
Status check_name(const Yaml::Entry& entry, const std::vector<NumberFormat>& taken) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (entry.key.empty() || entry.key.size() > longest_name || !std::ranges::all_of(entry.key, allowed) ||
      entry.key == "none") {
    return error_at(entry.place, fmt::format("'{}' cannot be the name of a format", shown(entry.key)),
                    "use letters, digits, _ and -");
  }
  if (std::ranges::find(taken, entry.key, &NumberFormat::name) != taken.end()) {
    return error_at(entry.place, fmt::format("there is a format '{}' already", entry.key), "choose another name");
  }
  return Done{};
}

}  // namespace

Expected<std::vector<NumberFormat>> read_formats(const Yaml& block, const std::vector<NumberFormat>& taken) {
  if (!block.is_map()) return wrong_form(block, "'formats'", "a block of keys for each: mine: {element: fp8e4m3, …}");
  std::vector<NumberFormat> formats;
  for (const Yaml::Entry& entry : block.entries) {
    MONET_RETURN_IF_ERROR(check_name(entry, taken));
    MONET_TRY(NumberFormat number, read_format(entry));
    formats.push_back(std::move(number));
  }
  return formats;
}

}  // namespace monet::training
