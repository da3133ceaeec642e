#include <monet/text.h>

#include "base/require.h"
#include "present/text/layout.h"

#include <algorithm>

namespace monet {

Table::Table(std::vector<Column> columns, std::size_t indent) : columns_(std::move(columns)), indent_(indent) {}

void Table::add(Row cells) {
  MONET_REQUIRE(cells.size() == columns_.size());
  // A name from a file may hold a new line, or what moves a terminal's cursor.
  for (std::string& cell : cells)
    std::ranges::replace_if(cell, [](char c) { return (c >= 0 && c < ' ') || c == 127; }, '?');
  rows_.push_back(std::move(cells));
}

void Table::add_rule() { rows_.emplace_back(); }

Text::Text(std::string lines) {
  if (!lines.empty()) parts_.push_back({std::move(lines), std::nullopt});
}

Text::Text(const char* lines) : Text(std::string(lines)) {}

Text::Text(Table table) { parts_.push_back({"", std::move(table)}); }

Text& Text::operator+=(const Text& more) {
  for (const Part& part : more.parts_) {
    if (!part.table && !parts_.empty() && !parts_.back().table) {
      parts_.back().lines += part.lines;
    } else {
      parts_.push_back(part);
    }
  }
  return *this;
}

std::string Text::plain() const {
  std::string text;
  for (const TextLine& line : laid_out(*this)) text += line.text + "\n";
  return text;
}

Text operator+(Text first, const Text& second) {
  first += second;
  return first;
}

}  // namespace monet
