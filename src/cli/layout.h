// Plain text made fit for a terminal: nothing is lost, only laid out and coloured.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace monet::cli {

// Lines of at most `columns` characters, as far as words allow: text goes on in the next line, under where it began; a
// table that is too wide is cut between columns into tables below each other, each with the first column, and a long
// last column goes on in lines below. A table is a heading over a rule of dashes.
std::string fitted(const std::string& text, std::size_t columns);

// Headings bold, rules dim, what is bad red.
std::string painted(const std::string& text);
// The same for help: its headings end with a colon.
std::string painted_help(const std::string& text);

enum class Style { bold, dim, red, yellow };
std::string painted(Style style, std::string_view text);

// Characters that a terminal shows.
std::size_t width_of(std::string_view text);

}  // namespace monet::cli
