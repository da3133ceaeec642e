#include "mapping/mapping_file.h"

#include "base/try.h"
#include "config/yaml_node.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::size_t most_dimensions = 16;
constexpr std::int64_t most_written_size = std::int64_t{1} << 40;

const std::vector<std::string>& dimension_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (std::size_t i = 1; i <= most_dimensions; ++i) all.push_back(fmt::format("D{}", i));
    return all;
  }();
  return names;
}

Expected<std::string> read_loop(const YamlNode& at, const std::string& text) {
  // One or more capital letters, then digits.
  std::size_t letters = 0;
  while (letters < text.size() && text[letters] >= 'A' && text[letters] <= 'Z') ++letters;
  if (letters > 0 && text.size() <= 16 && text.find_first_not_of("0123456789", letters) == std::string::npos)
    return text;
  return at.error(fmt::format("'{}' is not the name of a loop", text.substr(0, 40)),
                  "loops are B, K, G, C, OX, OY, FX, FY, D, H, D0, D1 …");
}

// Calls `read` with the index and value of every dimension of a block D1: …, D2: ….
template <class Read>
Status for_dimensions(const YamlNode& node, const char* what, const Read& read) {
  MONET_RETURN_IF_ERROR(allow_keys(node, what, dimension_names()));
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const auto& names = dimension_names();
    const auto index =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), node.keys[i].text) - names.begin());
    MONET_RETURN_IF_ERROR(expect_sequence(node.items[i], fmt::format("'{}' of {}", node.keys[i].text, what)));
    for (const YamlNode& item : node.items[i].items) MONET_RETURN_IF_ERROR(read(index, item));
  }
  return Done{};
}

template <class Lists>
auto& at_index(Lists& lists, std::size_t index) {
  if (lists.size() <= index) lists.resize(index + 1);
  return lists[index];
}

Status read_spatial(MappingFile::Entry& entry, const YamlNode& node) {
  return for_dimensions(node, "spatial_mapping", [&](std::size_t index, const YamlNode& item) -> Status {
    MONET_TRY(const auto parts, yaml_parts(item, "an unrolling"));
    if (parts.size() != 2) return item.error("an unrolling is not a loop and a size", "write 'K, 32'");
    MONET_TRY(const std::string loop, read_loop(item, parts[0]));
    YamlNode number = item;
    number.kind = YamlNode::Kind::scalar;
    number.text = parts[1];
    MONET_TRY(const double size, yaml_number(number, fmt::format("the size of '{}'", loop), 1));
    if (size > static_cast<double>(most_written_size))
      return item.error("an unrolling is larger than 2^40", "check the size");
    auto& loops = at_index(entry.spatial, index);
    if (std::any_of(loops.begin(), loops.end(), [&](const auto& other) { return other.first == loop; })) {
      return item.error(fmt::format("'{}' is unrolled twice along D{}", loop, index + 1), "multiply the sizes");
    }
    loops.emplace_back(loop, size);
    return Done{};
  });
}

Status read_hints(MappingFile::Entry& entry, const YamlNode& node) {
  return for_dimensions(node, "spatial_mapping_hint", [&](std::size_t index, const YamlNode& item) -> Status {
    MONET_TRY(const std::string word, yaml_word(item, "a hint"));
    MONET_TRY(std::string loop, read_loop(item, word));
    at_index(entry.hints, index).push_back(std::move(loop));
    return Done{};
  });
}

Status read_order(MappingFile::Entry& entry, const YamlNode& node) {
  MONET_RETURN_IF_ERROR(expect_sequence(node, "temporal_ordering"));
  for (const YamlNode& item : node.items) {
    MONET_TRY(const auto parts, yaml_parts(item, "a loop of temporal_ordering"));
    if (parts.size() != 2)
      return item.error("a loop of temporal_ordering is not a name and a size", "write [K, 4] or [K, \"*\"]");
    MappingFile::OrderedLoop loop;
    if (parts[0] != "*") {
      MONET_TRY(loop.loop, read_loop(item, parts[0]));
    }
    if (parts[1] != "*") {
      YamlNode number = item.is_sequence() ? item.items[1] : item;
      number.text = parts[1];
      MONET_TRY(loop.size, yaml_integer(number, "the size of a loop", 1, most_written_size));
    }
    if (!loop.loop && loop.size) return item.error("any loop ('*') cannot have a size", "write [\"*\", \"*\"]");
    entry.order.push_back(std::move(loop));
  }
  return Done{};
}

Status read_links(MappingFile::Entry& entry, const YamlNode& node) {
  static const std::vector<std::string> operands = {"I", "W", "O"};
  static const std::vector<std::string> memory_operands = {"I1", "I2", "O"};
  MONET_RETURN_IF_ERROR(allow_keys(node, "memory_operand_links", operands));
  for (std::size_t i = 0; i < operands.size(); ++i) {
    MONET_TRY(const YamlNode* value, require_key(node, "memory_operand_links", operands[i]));
    MONET_TRY(entry.memory_operands[i], yaml_word(*value, "a memory operand"));
    if (std::find(memory_operands.begin(), memory_operands.end(), entry.memory_operands[i]) == memory_operands.end()) {
      return value->error(fmt::format("there is no memory operand '{}'", entry.memory_operands[i]),
                          "they are I1, I2 and O");
    }
  }
  auto sorted = entry.memory_operands;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return node.error("two operands have the same memory operand", "give each of I, W and O one of I1, I2 and O");
  return Done{};
}

// levels: {O: {sram: [C, FX]}, W: …}
Status read_levels(MappingFile::Entry& entry, const YamlNode& node) {
  static const std::vector<std::string> operands = {"I", "W", "O"};
  MONET_RETURN_IF_ERROR(allow_keys(node, "levels", operands));
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const YamlNode& memories = node.items[i];
    MONET_RETURN_IF_ERROR(expect_map(memories, fmt::format("'{}' of levels", node.keys[i].text)));
    for (std::size_t m = 0; m < memories.items.size(); ++m) {
      MappingFile::Entry::Level level{node.keys[i].text, memories.keys[m].text, {}};
      MONET_RETURN_IF_ERROR(expect_sequence(memories.items[m], "the loops of a level"));
      for (const YamlNode& item : memories.items[m].items) {
        MONET_TRY(const std::string word, yaml_word(item, "a loop"));
        MONET_TRY(std::string loop, read_loop(item, word));
        level.loops.push_back(std::move(loop));
      }
      entry.levels.push_back(std::move(level));
    }
  }
  return Done{};
}

Expected<MappingFile::Entry> read_entry(const YamlNode& node) {
  static const std::vector<std::string> keys = {
      "name", "spatial_mapping", "spatial_mapping_hint", "memory_operand_links", "levels", "temporal_ordering"};
  MONET_RETURN_IF_ERROR(allow_keys(node, "an entry of the mapping", keys));
  MappingFile::Entry entry;
  entry.place = node.place();
  MONET_TRY(const YamlNode* name, require_key(node, "an entry of the mapping", "name"));
  MONET_TRY(entry.name, yaml_word(*name, "name"));
  const auto given = [&](const char* key) {
    const YamlNode* value = node.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  };
  if (const YamlNode* value = given("spatial_mapping")) MONET_RETURN_IF_ERROR(read_spatial(entry, *value));
  if (const YamlNode* value = given("spatial_mapping_hint")) MONET_RETURN_IF_ERROR(read_hints(entry, *value));
  if (const YamlNode* value = given("temporal_ordering")) MONET_RETURN_IF_ERROR(read_order(entry, *value));
  if (const YamlNode* value = given("memory_operand_links")) MONET_RETURN_IF_ERROR(read_links(entry, *value));
  if (const YamlNode* value = given("levels")) MONET_RETURN_IF_ERROR(read_levels(entry, *value));
  return entry;
}

}  // namespace

const MappingFile::Entry* MappingFile::find(std::string_view layer, std::string_view op) const {
  for (const std::string_view name : {layer, op, std::string_view("default")}) {
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name; });
    if (found != entries.end()) return &*found;
  }
  return nullptr;
}

Expected<MappingFile> read_mapping_text(std::string_view text, const std::string& path) {
  MONET_TRY(const YamlDocument document, parse_foreign_yaml(text, path));
  MONET_RETURN_IF_ERROR(expect_sequence(document.root, "a mapping"));
  MappingFile file;
  file.notes = document.repeated;
  for (const YamlNode& node : document.root.items) {
    MONET_TRY(MappingFile::Entry entry, read_entry(node));
    for (const MappingFile::Entry& other : file.entries) {
      if (other.name == entry.name)
        return node.error(fmt::format("the mapping has two entries '{}'", entry.name),
                          "remove one: the first is at " + other.place);
    }
    file.entries.push_back(std::move(entry));
  }
  if (file.entries.empty())
    return document.root.error("the mapping has no entry", "write '- name: default' and what follows");
  return file;
}

Expected<MappingFile> read_mapping_file(const std::string& path) {
  MONET_TRY(const std::string text, read_foreign_text(path));
  return read_mapping_text(text, path);
}

Status check_dimensions(const MappingFile::Entry& entry, std::size_t dimensions) {
  const std::size_t named = std::max(entry.spatial.size(), entry.hints.size());
  if (named <= dimensions) return Done{};
  return Error{
      .message = fmt::format("'{}' unrolls along D{}, but the array has {} dimensions", entry.name, named, dimensions),
      .place = entry.place,
      .advice = fmt::format("use D1 to D{}", dimensions)};
}

}  // namespace monet
