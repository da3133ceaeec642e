#include "config/check_keys.h"

#include "base/require.h"
#include "base/suggest.h"
#include "base/try.h"
#include "config/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

bool is_stated(const Yaml& node) { return node.is_map() && node.find("value") != nullptr; }

std::string meant_name(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return {};
  const std::string near = nearest(name, known);
  if (!near.empty()) return fmt::format("did you mean '{}'?", near);
  constexpr std::size_t few = 40;
  const std::vector<std::string> first(known.begin(),
                                       known.begin() + static_cast<std::ptrdiff_t>(std::min(few, known.size())));
  return fmt::format("known: {}{}", fmt::join(first, ", "), known.size() > few ? ", …" : "");
}

namespace {

Status check_scalar(const Yaml& node, const Key& key, const std::string& what) {
  if (node.is_scalar()) return Done{};
  switch (key.form) {
    case Form::quantity:
    case Form::range: return wrong_form(node, what, expected_form(key.measure));
    case Form::integer: return wrong_form(node, what, "a whole number");
    case Form::boolean: return wrong_form(node, what, "true or false");
    case Form::choice: return wrong_form(node, what, fmt::format("one of: {}", fmt::join(key.choices, ", ")));
    case Form::text: return wrong_form(node, what, "a text");
    default: return wrong_form(node, what, "one value");
  }
}

Status check_choice(const Yaml& node, const Key& key, const std::string& what) {
  if (std::find(key.choices.begin(), key.choices.end(), node.scalar) != key.choices.end()) return Done{};
  const std::vector<std::string> choices(key.choices.begin(), key.choices.end());
  const std::string near = nearest(node.scalar, choices);
  return Error{.message = fmt::format("{} cannot be '{}'", what, shown(node.scalar)),
               .place = node.place.text(),
               .advice = near.empty() ? fmt::format("one of: {}", fmt::join(choices, ", "))
                                      : fmt::format("did you mean '{}'?", near)};
}

Status check_list(const Yaml& node, const std::string& what, std::string_view expected) {
  if (!node.is_list()) return wrong_form(node, what, expected);
  for (const YamlPtr& item : node.items) {
    if (!item->is_scalar()) return wrong_form(*item, fmt::format("an item of {}", what), expected);
  }
  return Done{};
}

Status check_names(const Yaml::Entry& entry, const Key& key) {
  if (key.names == Names::kinds) {
    const auto& kinds = kind_names();
    if (std::find(kinds.begin(), kinds.end(), entry.key) != kinds.end()) return Done{};
    return Error{.message = fmt::format("there is no kind of operation '{}'", shown(entry.key)),
                 .place = entry.place.text(),
                 .advice = meant_name(entry.key, kinds)};
  }
  if (key.names == Names::precisions && !is_precision(entry.key)) {
    return Error{.message = fmt::format("'{}' is no precision", shown(entry.key)),
                 .place = entry.place.text(),
                 .advice = "for example fp32, tf32, bf16, fp16, fp8, fp8_e4m3, int8, int4, mxfp8, mxint8, mx9"};
  }
  if (key.names == Names::any && (entry.key.size() > 100 || entry.key.find_first_of("/ \t\n,") != std::string::npos)) {
    return Error{.message = fmt::format("'{}' cannot be a name", shown(entry.key)),
                 .place = entry.place.text(),
                 .advice = "no spaces, commas or /, at most 100 characters"};
  }
  return Done{};
}

Status check_value(const Yaml& node, const Key& key, const std::string& what);

Status check_blocks(const Yaml& node, const Key& key, const std::string& what) {
  if (!node.is_map()) return wrong_form(node, what, fmt::format("a block with a name for each {}", key.block().name));
  for (const Yaml::Entry& entry : node.entries) {
    MONET_RETURN_IF_ERROR(check_names(entry, key));
    const std::string inner = fmt::format("{} '{}'", key.block().name, shown(entry.key));
    if (!entry.value->is_map() && !key.short_for.empty()) {
      const Key* short_key = key.block().find(key.short_for);
      MONET_REQUIRE(short_key != nullptr);
      MONET_RETURN_IF_ERROR(check_value(*entry.value, *short_key, inner));
    } else {
      MONET_RETURN_IF_ERROR(check_keys(*entry.value, key.block(), inner));
    }
  }
  return Done{};
}

// A value with a source of its own, where one value is expected.
Status check_stated(const Yaml& node, const Key& key, const std::string& what) {
  for (const Yaml::Entry& entry : node.entries) {
    if (entry.key == "value") continue;
    const Key* known = stated_block().find(entry.key);
    if (known == nullptr) {
      return Error{.message = fmt::format("unknown key '{}' beside the value of {}", shown(entry.key), what),
                   .place = entry.place.text(),
                   .advice = meant_name(entry.key, stated_block().key_names())};
    }
    if (!entry.value->is_scalar()) return wrong_form(*entry.value, fmt::format("'{}'", entry.key), "a text");
    MONET_RETURN_IF_ERROR(check_value(*entry.value, *known, fmt::format("'{}' of {}", entry.key, what)));
  }
  const Yaml& value = *node.find("value");
  if (is_stated(value)) return wrong_form(value, fmt::format("'value' of {}", what), "the value itself");
  return check_value(value, key, what);
}

Status check_value(const Yaml& node, const Key& key, const std::string& what) {
  if (node.kind == YamlKind::nothing) {
    return Error{
        .message = fmt::format("{} has no value", what), .place = node.place.text(), .advice = "remove it or state it"};
  }
  switch (key.form) {
    case Form::block: return check_keys(node, key.block(), what);
    case Form::blocks: return check_blocks(node, key, what);
    case Form::block_list: {
      if (!node.is_list()) return wrong_form(node, what, "a list: a line starting with - for each");
      for (const YamlPtr& item : node.items) {
        MONET_RETURN_IF_ERROR(check_keys(*item, key.block(), std::string(key.block().name)));
      }
      return Done{};
    }
    default: break;
  }
  if (is_stated(node)) return check_stated(node, key, what);
  switch (key.form) {
    case Form::names: return node.is_scalar() ? Done{} : check_list(node, what, "a name or a list of names: [a, b]");
    case Form::integers: return check_list(node, what, "a list of whole numbers: [4, 4]");
    case Form::range:
      if (node.is_list()) return check_list(node, what, "two values: [64 bit/cycle, 512 bit/cycle]");
      return check_scalar(node, key, what);
    case Form::choice: MONET_RETURN_IF_ERROR(check_scalar(node, key, what)); return check_choice(node, key, what);
    default: return check_scalar(node, key, what);
  }
}

}  // namespace

Status check_keys(const Yaml& node, const Block& block, const std::string& what) {
  if (!node.is_map()) {
    return wrong_form(node, what, fmt::format("a block of keys: {}", fmt::join(block.key_names(), ", ")));
  }
  for (const Yaml::Entry& entry : node.entries) {
    const Key* key = block.find(entry.key);
    if (key == nullptr) {
      return Error{.message = fmt::format("unknown key '{}' in {}", shown(entry.key), what),
                   .place = entry.place.text(),
                   .advice = meant_name(entry.key, block.key_names())};
    }
    MONET_RETURN_IF_ERROR(check_value(*entry.value, *key, fmt::format("'{}' of {}", entry.key, what)));
  }
  return Done{};
}

}  // namespace monet
