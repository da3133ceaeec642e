// Text in lines: tables written out, and what is too wide for a terminal brought into it without losing anything.
#pragma once

#include <monet/text.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

struct TextLine {
  enum class Kind { words, heading, rule, row };  // all but words: of a table

  std::string text;  // without its end
  Kind kind = Kind::words;
};

// Lines of at most `columns` characters, as far as words allow; 0: as wide as they are. Words go on in the next line,
// under where they began; a table that is too wide is cut between columns into tables below each other, each with the
// first column, and a long last column goes on in lines below.
std::vector<TextLine> laid_out(const Text& text, std::size_t columns = 0);

// Characters that a terminal shows.
std::size_t width_of(std::string_view text);

// Without their ends. A last line that is empty is none.
std::vector<std::string_view> lines_of(std::string_view text);

std::size_t indent_of(std::string_view line);

}  // namespace monet
