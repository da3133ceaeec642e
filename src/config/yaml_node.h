// YAML text as a tree in which every node knows its place. Another tool's files are read as PyYAML reads them: of a key
// given twice the last value counts.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monet {

struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, sequence, map };
  Kind kind = Kind::null;
  std::string text;             // of a scalar
  std::vector<YamlNode> items;  // of a sequence, or the values of a map
  std::vector<YamlNode> keys;   // of a map: scalars, each once
  int line = 0, column = 0;     // from 1
  std::shared_ptr<const std::string> file;

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_map() const { return kind == Kind::map; }
  // Value of that key; null: none, or not a map.
  const YamlNode* find(std::string_view key) const;
  std::string place() const;  // file:line:column
  Error error(std::string message, std::string advice) const;
};

struct YamlDocument {
  YamlNode root;
  std::vector<std::string> repeated;  // "place: 'key' …", for every key given twice
};

// Fails for text that is no YAML, has more than one document, or is too large (4 MiB, 200,000 nodes with aliases
// written out, nesting of 64).
Expected<YamlDocument> parse_foreign_yaml(std::string_view text, const std::string& path);
Expected<std::string> read_foreign_text(const std::string& path);  // of a file of at most 4 MiB

// What a node says, or an error that names `what`.

Expected<std::string> yaml_word(const YamlNode& node, std::string_view what);
// Numbers as PyYAML spells them: 16_777_216.
Expected<std::int64_t> yaml_integer(const YamlNode& node, std::string_view what, std::int64_t least, std::int64_t most);
Expected<double> yaml_number(const YamlNode& node, std::string_view what, double least = 0);
Expected<bool> yaml_switch(const YamlNode& node, std::string_view what);
Expected<std::vector<std::string>> yaml_words(const YamlNode& node, std::string_view what);
// "K, 32", or the sequence [K, 32], as its parts.
Expected<std::vector<std::string>> yaml_parts(const YamlNode& node, std::string_view what);

Status expect_map(const YamlNode& node, std::string_view what);
Status expect_sequence(const YamlNode& node, std::string_view what);
Status allow_keys(const YamlNode& map, std::string_view what, std::span<const std::string> allowed);
Expected<const YamlNode*> require_key(const YamlNode& map, std::string_view what, std::string_view key);

// "did you mean 'x'?", or the choices.
std::string advise_choice(std::string_view word, std::span<const std::string> choices);

}  // namespace monet
