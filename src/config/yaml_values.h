// Values of a YAML file, read with their places: what is wrong with one is said at that place.
#pragma once

#include "config/yaml.h"

#include <monet/expected.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

constexpr std::size_t longest_name = 100;

// Letters, digits and _, the first no digit.
bool is_name(std::string_view text);

Error error_at(const Place& place, std::string message, std::string advice);
// "'batch' is a list" (write …)
Error wrong_form(const Yaml& node, const std::string& what, std::string_view expected);

// A block with these keys alone, each of which has a value.
Status check_keys_of(const Yaml& node, const std::string& what, const std::vector<std::string>& keys);

// One text that is not empty, of at most `longest` characters.
Expected<std::string> read_word(const Yaml& node, const std::string& what, std::size_t longest = longest_name);
Expected<std::int64_t> read_whole(const Yaml& node, const std::string& what, std::int64_t least, std::int64_t most);
// Finite and from `least` up.
Expected<double> read_real(const Yaml& node, const std::string& what, double least);
Expected<bool> read_switch(const Yaml& node, const std::string& what);
// One of `words`; the error has the nearest.
Expected<std::string> read_one_of(const Yaml& node, const std::string& what, const std::vector<std::string>& words);

// The items of a list, or the one value in place of it.
std::vector<const Yaml*> one_or_more(const Yaml& node);

}  // namespace monet
