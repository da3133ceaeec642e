#include "config/keys.h"

#include "graph/nests.h"

#include <algorithm>

namespace monet {

const Key* Block::find(std::string_view key) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == key; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string> Block::key_names() const {
  std::vector<std::string> names;
  for (const Key& key : keys) names.emplace_back(key.name);
  return names;
}

std::vector<Key> joined(std::initializer_list<std::vector<Key>> parts) {
  std::vector<Key> all;
  for (const std::vector<Key>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

const std::vector<Key>& provenance_keys() {
  static const std::vector<Key> keys = {
      {.name = "source", .meaning = "where the values of this block were read"},
      {.name = "confidence",
       .form = Form::choice,
       .meaning = "A primary source, B secondary source, C from memory of a publication, D derived",
       .choices = {"A", "B", "C", "D"}},
      {.name = "note", .meaning = "a remark for readers"},
  };
  return keys;
}

const Block& stated_block() {
  static const Block block = {
      "value", joined({{{.name = "value", .form = Form::parameter, .meaning = "the value"}}, provenance_keys()})};
  return block;
}

const std::vector<std::string>& kind_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"all", "arithmetic"};
    for (std::size_t i = 0; i < count_kinds; ++i) all.emplace_back(name_of(static_cast<Count>(i)));
    return all;
  }();
  return names;
}

bool is_precision(std::string_view name) {
  static constexpr std::array<std::string_view, 11> starts = {"fp", "float", "bf",   "tf",   "mxfp", "mxint",
                                                              "mx", "int",   "uint", "nvfp", "bfp"};
  const std::size_t letters = name.find_first_of("0123456789");
  if (name.size() > 24 || letters == std::string_view::npos) return false;
  if (std::find(starts.begin(), starts.end(), name.substr(0, letters)) == starts.end()) return false;
  // Then bits, and perhaps how they are shared out: fp8e4m3, fp8_e4m3fn.
  return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(letters), name.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_'; });
}

}  // namespace monet
