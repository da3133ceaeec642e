// YAML as a tree of our own: every node knows its place, keys are plain names that occur once, aliases and merge keys
// (<<) are resolved, and no text is too deep, too large or grows without bound.
#pragma once

#include <monet/expected.h>
#include <monet/place.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

struct Yaml;
using YamlPtr = std::shared_ptr<const Yaml>;  // trees share what an alias repeats

enum class YamlKind : std::uint8_t { nothing, scalar, list, map };

struct Yaml {
  struct Entry {
    std::string key;
    Place place;  // of the key
    YamlPtr value;
  };

  YamlKind kind = YamlKind::nothing;
  Place place;
  std::string scalar;
  std::vector<YamlPtr> items;
  std::vector<Entry> entries;  // in the order of the file
  std::size_t size = 1;        // nodes, what an alias repeats counted each time

  bool is_map() const { return kind == YamlKind::map; }
  bool is_list() const { return kind == YamlKind::list; }
  bool is_scalar() const { return kind == YamlKind::scalar; }
  const Yaml* find(std::string_view key) const;  // null: absent
  const Entry* entry(std::string_view key) const;
};

constexpr std::size_t max_yaml_bytes = std::size_t{4} << 20;
constexpr std::size_t max_yaml_nodes = 200000;
constexpr std::size_t max_yaml_depth = 32;

// What a text should be: for messages, and how large it may be.
struct YamlFileKind {
  std::string_view name = "hardware file";
  std::string_view example = "docs/hardware.md";
  std::string_view shorten = "use count, grid or clusters for what repeats";  // advice for one with too many values
  std::size_t max_bytes = max_yaml_bytes;
  std::size_t max_nodes = max_yaml_nodes;
};

// One document. `file` is for places.
Expected<YamlPtr> parse_yaml(const std::string& text, const std::string& file, const YamlFileKind& kind = {});

// A text from a file as a message may show it: short, and without control characters.
std::string shown(std::string_view text);

// "a list", "a block of keys" …
std::string_view name_of(YamlKind kind);

}  // namespace monet
