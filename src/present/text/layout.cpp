#include "present/text/layout.h"

#include "present/text/table_layout.h"

#include <algorithm>

namespace monet {

namespace {

// Where the rest of a long line goes on: under its value in "title        value", else a bit further in.
std::size_t hanging_of(std::string_view line) {
  constexpr std::size_t widest = 24;  // what is not found is further than that
  const std::size_t indent = indent_of(line);
  const std::size_t gap = line.find("  ", indent);
  if (gap > widest) return indent + 2;
  const std::size_t value = line.find_first_not_of(' ', gap);
  return value > widest ? indent + 2 : width_of(line.substr(0, value));
}

void lay_out(std::string_view line, std::size_t columns, std::vector<TextLine>& lines) {
  constexpr std::size_t least = 20;  // characters of words in a line
  const std::size_t hanging = hanging_of(line);
  if (columns == 0 || width_of(line) <= columns || hanging + least > columns) {
    lines.push_back({std::string(line)});
    return;
  }
  const std::size_t indent = indent_of(line);
  std::string before(line.substr(0, indent));
  for (const std::string& piece : wrapped(line.substr(indent), columns - indent, columns - hanging)) {
    lines.push_back({before + piece});
    before = std::string(hanging, ' ');
  }
}

}  // namespace

std::vector<TextLine> laid_out(const Text& text, std::size_t columns) {
  std::vector<TextLine> lines;
  for (const Text::Part& part : text.parts()) {
    if (part.table) {
      lay_out(*part.table, columns, lines);
    } else {
      for (const std::string_view line : lines_of(part.lines)) lay_out(line, columns, lines);
    }
  }
  return lines;
}

std::size_t width_of(std::string_view text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };  // a UTF-8 character
  return static_cast<std::size_t>(std::ranges::count_if(text, [&](char c) { return !continues(c); }));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t indent_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string_view::npos ? line.size() : first;
}

}  // namespace monet
