#include "hardware/include.h"

#include "base/read_file.h"
#include "base/suggest.h"
#include "base/try.h"
#include "config/words.h"
#include "hardware/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace monet {

namespace {

constexpr std::size_t max_include_depth = 16;
constexpr int max_included_files = 256;

YamlPtr merged(const YamlPtr& over, const YamlPtr& under) {
  auto result = std::make_shared<Yaml>(*over);
  if (over->is_list() && under->is_list()) {
    result->items = under->items;
    result->items.insert(result->items.end(), over->items.begin(), over->items.end());
    result->size = over->size + under->size;
    return result;
  }
  if (!over->is_map() || !under->is_map() || is_choice(*over) != is_choice(*under)) return result;
  // The order is the included file's, for memories are listed lowest first. What this file adds comes before the next
  // of its keys that both have, else last.
  std::unordered_set<std::string> included;
  for (const Yaml::Entry& entry : under->entries) included.insert(entry.key);
  std::unordered_map<std::string, std::vector<const Yaml::Entry*>> own;  // up to a key that both have
  std::vector<const Yaml::Entry*> added;
  for (const Yaml::Entry& entry : over->entries) {
    added.push_back(&entry);
    if (included.contains(entry.key)) own[entry.key] = std::exchange(added, {});
  }
  result->entries.clear();
  result->size = 1;
  for (const Yaml::Entry& entry : under->entries) {
    const auto found = own.find(entry.key);
    if (found == own.end()) {
      result->entries.push_back(entry);
      continue;
    }
    for (const Yaml::Entry* one : found->second) {
      const bool both = one->key == entry.key;
      result->entries.push_back({one->key, one->place, both ? merged(one->value, entry.value) : one->value});
    }
  }
  for (const Yaml::Entry* entry : added) result->entries.push_back(*entry);
  for (const Yaml::Entry& entry : result->entries) result->size += entry.value->size;
  return result;
}

// A single value, or a block, with the source of the file it comes from unless it has its own.
YamlPtr with_source(const YamlPtr& node, const std::vector<Yaml::Entry>& source) {
  if (node->is_scalar()) {
    auto stated = std::make_shared<Yaml>();
    stated->kind = YamlKind::map;
    stated->place = node->place;
    stated->entries = source;
    stated->entries.push_back({"value", node->place, node});
    stated->size = 2 + source.size();
    return stated;
  }
  if (!node->is_map() || node->find("source") != nullptr) return node;
  auto result = std::make_shared<Yaml>(*node);
  if (is_choice(*node)) {
    for (Yaml::Entry& entry : result->entries) {
      if (entry.key != "choose") entry.value = with_source(entry.value, source);
    }
    return result;
  }
  for (const Yaml::Entry& entry : source) {
    if (result->find(entry.key) == nullptr) result->entries.push_back(entry);
  }
  result->size += source.size();
  return result;
}

// The included file's own source, handed down to what it describes.
YamlPtr handed_down(const YamlPtr& root) {
  std::vector<Yaml::Entry> source;
  for (const std::string_view key : {"source", "confidence"}) {
    if (const Yaml::Entry* entry = root->entry(key)) source.push_back(*entry);
  }
  auto result = std::make_shared<Yaml>(*root);
  std::erase_if(result->entries, [](const Yaml::Entry& entry) {
    return entry.key == "source" || entry.key == "confidence" || entry.key == "monet";
  });
  if (source.empty()) return result;
  for (Yaml::Entry& entry : result->entries) {
    if (entry.key == "clock" || entry.key == "technology" || entry.key == "static_power" || entry.key == "area") {
      entry.value = with_source(entry.value, source);
    }
    static constexpr std::array<std::string_view, 6> parts = {"peak",     "memories", "cores",
                                                              "clusters", "links",    "fabric"};
    if (std::find(parts.begin(), parts.end(), entry.key) == parts.end()) continue;
    auto blocks = std::make_shared<Yaml>(*entry.value);
    for (Yaml::Entry& block : blocks->entries) block.value = with_source(block.value, source);
    for (YamlPtr& item : blocks->items) item = with_source(item, source);
    entry.value = blocks;
  }
  return result;
}

class Includer {
 public:
  Expected<YamlPtr> resolve(const YamlPtr& node, const std::string& path) {
    if (node->is_list()) {
      auto result = std::make_shared<Yaml>(*node);
      for (YamlPtr& item : result->items) {
        MONET_TRY(item, resolve(item, path));
      }
      return YamlPtr(result);
    }
    if (!node->is_map()) return node;
    auto result = std::make_shared<Yaml>(*node);
    std::vector<YamlPtr> files;
    for (Yaml::Entry& entry : result->entries) {
      if (entry.key == "include" && !entry.value->is_map()) {
        files = entry.value->is_list() ? entry.value->items : std::vector<YamlPtr>{entry.value};
      } else {
        MONET_TRY(entry.value, resolve(entry.value, path));
      }
    }
    if (files.empty()) return YamlPtr(result);
    std::erase_if(result->entries, [](const Yaml::Entry& entry) { return entry.key == "include"; });
    YamlPtr block = result;
    // A later file of the list lies under the earlier ones.
    for (const YamlPtr& file : files) {
      MONET_TRY(const YamlPtr included, open(*file, path));
      block = merged(block, included);
      if (block->size > max_yaml_nodes) {
        return Error{.message = fmt::format("more than {} values with what is included", max_yaml_nodes),
                     .place = file->place.text()};
      }
    }
    return block;
  }

 private:
  Expected<YamlPtr> open(const Yaml& name, const std::string& from) {
    if (!name.is_scalar()) {
      return Error{.message = "the name of a file is missing",
                   .place = name.place.text(),
                   .advice = "write include: [common.yaml]"};
    }
    const std::filesystem::path beside = std::filesystem::path(from).parent_path() / name.scalar;
    std::error_code ignored;
    const bool is_file = std::filesystem::is_regular_file(beside, ignored);
    const std::string* preset = is_file ? nullptr : preset_text(name.scalar);
    if (!is_file && preset == nullptr) {
      const std::string near = nearest(name.scalar, preset_names());
      return Error{.message = fmt::format("there is no file '{}' to include", shown(name.scalar)),
                   .place = name.place.text(),
                   .advice = near.empty() ? fmt::format("looked for {}", shown(beside.string()))
                                          : fmt::format("did you mean the preset '{}'?", near)};
    }
    const std::string identity =
        is_file ? std::filesystem::weakly_canonical(beside, ignored).string() : fmt::format("preset {}", name.scalar);
    if (std::find(open_.begin(), open_.end(), identity) != open_.end()) {
      return Error{.message = fmt::format("'{}' includes itself", shown(name.scalar)),
                   .place = name.place.text(),
                   .advice = "remove this include"};
    }
    if (open_.size() >= max_include_depth || ++files_ > max_included_files) {
      return Error{.message = "too many files included", .place = name.place.text()};
    }
    std::string text;
    if (is_file) {
      auto content = read_file(beside.string());
      if (!content) {
        content.error().place = name.place.text();
        return std::move(content).error();
      }
      text = *std::move(content);
    } else {
      text = *preset;
    }
    const std::string path = is_file ? beside.string() : identity;
    MONET_TRY(const YamlPtr root, parse_yaml(text, path));
    if (!root->is_map()) {
      return Error{.message = "an included file must be a block of keys", .place = root->place.text()};
    }
    open_.push_back(identity);
    MONET_TRY(const YamlPtr resolved, resolve(root, path));
    open_.pop_back();
    return handed_down(resolved);
  }

 public:
  std::vector<std::string> open_;  // files being read, outermost first

 private:
  int files_ = 0;
};

// Levels of one name from two files, the later over the earlier: what a file that includes another says of its fabric.
YamlPtr joined_levels(const YamlPtr& fabric) {
  if (!fabric->is_list()) return fabric;
  const auto name_in = [](const Yaml& level) {
    const Yaml* name = level.is_map() ? level.find("name") : nullptr;
    return name != nullptr && name->is_scalar() ? name->scalar : std::string();
  };
  auto result = std::make_shared<Yaml>(*fabric);
  result->items.clear();
  for (const YamlPtr& item : fabric->items) {
    const std::string name = name_in(*item);
    const auto same = std::ranges::find_if(result->items, [&](const YamlPtr& other) {
      return !name.empty() && name_in(*other) == name && other->place.file != item->place.file;
    });
    if (same == result->items.end()) {
      result->items.push_back(item);
    } else {
      *same = merged(item, *same);
    }
  }
  return result;
}

}  // namespace

Expected<YamlPtr> chip_beside_fabric(const YamlPtr& root) {
  if (!root->is_map()) return root;
  const Yaml::Entry* chips = root->entry("chips");
  const Yaml::Entry* fabric = root->entry("fabric");
  if (chips != nullptr && fabric == nullptr) {
    return Error{.message = "chips without a fabric that joins them",
                 .place = chips->place.text(),
                 .advice = "write fabric: …, or include the chip without `chips`"};
  }
  if (fabric == nullptr) return root;
  auto result = std::make_shared<Yaml>(*root);
  for (Yaml::Entry& entry : result->entries)
    if (entry.key == "fabric") entry.value = joined_levels(entry.value);
  if (chips == nullptr) return YamlPtr(result);
  if (!chips->value->is_map()) {
    return Error{.message = "'chips' is not a block that describes one chip",
                 .place = chips->value->place.text(),
                 .advice = "write chips: {include: h100}; how many there are stands in the levels of the fabric"};
  }
  for (const std::string_view key : {"fabric", "chips"}) {
    const Yaml::Entry* inner = chips->value->entry(key);
    if (inner == nullptr) continue;
    return Error{.message = "the chip has a fabric of its own",
                 .place = inner->place.text(),
                 .advice = "include that machine beside `fabric`, or a single chip here"};
  }
  std::erase_if(result->entries, [](const Yaml::Entry& entry) { return entry.key == "chips"; });
  return merged(result, handed_down(chips->value));
}

Expected<YamlPtr> resolve_includes(const YamlPtr& root, const std::string& path) {
  Includer includer;
  std::error_code ignored;
  const auto canonical = std::filesystem::weakly_canonical(path, ignored);
  includer.open_.push_back(path.starts_with("preset ") ? path : canonical.string());
  return includer.resolve(root, path);
}

}  // namespace monet
