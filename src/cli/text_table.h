// Tables found again in plain text: a heading, a rule of dashes, rows, until a blank line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monet::cli {

// Without their ends. A last line that is empty is none.
std::vector<std::string_view> lines_of(std::string_view text);

// Dashes alone, after blanks.
bool is_rule(std::string_view line);

// How many lines the table has that begins at line `at`; 0: none begins there.
std::size_t table_at(std::span<const std::string_view> lines, std::size_t at);

// In at most so many columns, see fitted().
std::string table_text(std::span<const std::string_view> rows, std::size_t columns);

// Pieces of at most so many characters where words allow, the first one of at most `first`.
std::vector<std::string> wrapped(std::string_view text, std::size_t first, std::size_t columns);

}  // namespace monet::cli
