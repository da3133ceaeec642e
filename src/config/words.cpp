#include "config/words.h"

#include "base/try.h"
#include "config/check_keys.h"
#include "config/yaml_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::string_view choose_key = "choose";
constexpr std::string_view otherwise_key = "otherwise";

bool is_word_option(std::string_view text) {
  return is_name(text) && text != choose_key && text != otherwise_key && text != "true" && text != "false";
}

Error no_option(const std::string& name, const std::string& text, const std::vector<std::string>& options,
                std::string place) {
  return {.message = fmt::format("the parameter '{}' cannot be '{}'", shown(name), shown(text)),
          .place = std::move(place),
          .advice = fmt::format("one of: {}", fmt::join(options, ", "))};
}

Expected<std::vector<std::string>> read_options(const std::string& name, const Yaml& list) {
  std::vector<std::string> options;
  if (!list.is_list() || list.items.empty()) {
    return wrong_form(list, fmt::format("'one_of' of the parameter '{}'", shown(name)), "words: [int8, bf16]");
  }
  for (const YamlPtr& item : list.items) {
    if (!item->is_scalar() || !is_word_option(item->scalar)) {
      return error_at(item->place, fmt::format("'{}' cannot be a word of '{}'", shown(item->scalar), shown(name)),
                      "letters, digits and _, the first no digit; choose, otherwise, true and false are taken");
    }
    if (std::ranges::find(options, item->scalar) != options.end()) {
      return error_at(item->place, fmt::format("'{}' has the word '{}' twice", shown(name), item->scalar),
                      "remove one of them");
    }
    options.push_back(item->scalar);
  }
  return options;
}

}  // namespace

bool is_choice(const Yaml& node) {
  const Yaml* name = node.is_map() ? node.find(choose_key) : nullptr;
  return name != nullptr && name->is_scalar();
}

Expected<Words> Words::read(const Yaml* block, const std::vector<std::pair<std::string, std::string>>& chosen) {
  Words words;
  if (block == nullptr) return words;
  for (const Yaml::Entry& entry : block->entries) {
    const Yaml* list = entry.value->is_map() ? entry.value->find("one_of") : nullptr;
    if (list == nullptr) continue;
    MONET_TRY(const std::vector<std::string> options, read_options(entry.key, *list));
    const Yaml* value = entry.value->find("value");
    if (value == nullptr || !value->is_scalar()) {
      return error_at(entry.place, fmt::format("the parameter '{}' has no default", shown(entry.key)),
                      fmt::format("write value: {}", options.front()));
    }
    for (const std::string_view bound : {"minimum", "maximum"}) {
      if (const Yaml::Entry* stated = entry.value->entry(bound)) {
        return error_at(stated->place, fmt::format("a {} of the word '{}'", bound, shown(entry.key)), "remove it");
      }
    }
    Word word{.chosen = value->scalar, .options = options};
    std::string place = value->place.text();
    for (const auto& [name, text] : chosen) {
      if (name != entry.key) continue;
      word.chosen = text;
      place = fmt::format("parameter {}", name);
    }
    if (std::ranges::find(options, word.chosen) == options.end()) {
      return no_option(entry.key, word.chosen, options, std::move(place));
    }
    words.words_.emplace(entry.key, std::move(word));
  }
  return words;
}

const std::string* Words::find(std::string_view parameter) const {
  const auto found = words_.find(parameter);
  return found == words_.end() ? nullptr : &found->second.chosen;
}

Expected<YamlPtr> Words::chosen_of(const Yaml& choice) const {
  const Yaml& name = *choice.find(choose_key);
  const auto word = words_.find(name.scalar);
  if (word == words_.end()) {
    std::vector<std::string> known;
    for (const auto& [each, _] : words_) known.push_back(each);
    return error_at(
        name.place, fmt::format("'{}' is no parameter that is a word", shown(name.scalar)),
        known.empty() ? "a parameter is one when it states one_of: [int8, bf16]" : meant_name(name.scalar, known));
  }
  const auto& options = word->second.options;
  for (const Yaml::Entry& entry : choice.entries) {
    if (entry.key == choose_key || entry.key == otherwise_key) continue;
    if (std::ranges::find(options, entry.key) == options.end()) {
      return error_at(entry.place, fmt::format("'{}' is never '{}'", word->first, shown(entry.key)),
                      fmt::format("one of: {}, otherwise", fmt::join(options, ", ")));
    }
  }
  const Yaml::Entry* otherwise = choice.entry(otherwise_key);
  for (const std::string& option : options) {
    if (choice.entry(option) == nullptr && otherwise == nullptr) {
      return error_at(choice.place, fmt::format("nothing is said for '{}' being '{}'", word->first, option),
                      fmt::format("write {}: …, or otherwise: …", option));
    }
  }
  const Yaml::Entry* own = choice.entry(word->second.chosen);
  const YamlPtr& value = own != nullptr ? own->value : otherwise->value;
  if (value->kind == YamlKind::nothing) return YamlPtr();
  return replaced(value);
}

Expected<YamlPtr> Words::replaced(const YamlPtr& node) const {
  if (is_choice(*node)) return chosen_of(*node);
  if (!node->is_map() && !node->is_list()) return node;
  auto copy = std::make_shared<Yaml>(*node);
  bool changed = false;
  const auto replace = [&](YamlPtr& child) -> Status {
    MONET_TRY(YamlPtr made, replaced(child));
    changed |= made != child;
    child = std::move(made);
    return Done{};
  };
  for (Yaml::Entry& entry : copy->entries) MONET_RETURN_IF_ERROR(replace(entry.value));
  for (YamlPtr& item : copy->items) MONET_RETURN_IF_ERROR(replace(item));
  if (!changed) return node;
  std::erase_if(copy->entries, [](const Yaml::Entry& entry) { return entry.value == nullptr; });
  std::erase_if(copy->items, [](const YamlPtr& item) { return item == nullptr; });
  copy->size = 1;
  for (const Yaml::Entry& entry : copy->entries) copy->size += entry.value->size;
  for (const YamlPtr& item : copy->items) copy->size += item->size;
  return YamlPtr(std::move(copy));
}

Expected<YamlPtr> Words::choose(const Yaml& tree) const {
  if (is_choice(tree)) {
    return error_at(tree.place, "a choice where a block of keys should be", "choose inside of it");
  }
  return replaced(std::make_shared<const Yaml>(tree));
}

}  // namespace monet
