// Small work on text that several readers need.
#pragma once

#include <string>
#include <string_view>

namespace monet {

// Without blanks, tabs and carriage returns at both ends; a view of the same characters.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// The same text where it is UTF-8; bytes that are none, as a damaged file has them, as \xNN.
std::string as_utf8(std::string_view text);

// What others have written, for a terminal: as UTF-8, and characters that would steer the terminal as \xNN; ends of
// lines and tabs stay.
std::string for_terminal(std::string_view text);
// The same JSON: such characters, which JSON may have in texts, as \uNNNN.
std::string json_for_terminal(std::string_view json);

}  // namespace monet
