#include "present/text/table.h"

#include "base/require.h"

#include <algorithm>

namespace monet {

namespace {

// Characters a terminal shows: UTF-8 continuation bytes take no place.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
  MONET_REQUIRE(cells.size() == columns_.size());
  // A name from a file may hold a new line, or what moves a terminal's cursor.
  for (std::string& cell : cells)
    std::ranges::replace_if(cell, [](char c) { return (c >= 0 && c < ' ') || c == 127; }, '?');
  rows_.push_back(std::move(cells));
}

void Table::add_rule() { rows_.emplace_back(); }

std::string Table::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(width(columns_[i].title));
    for (const auto& row : rows_) {
      if (!row.empty()) widths[i] = std::max(widths[i], width(row[i]));
    }
  }
  std::string result;
  const auto write = [&](const auto& cell_of) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string space(widths[i] - width(cell), ' ');
      line += columns_[i].align == Align::left ? cell + space : space + cell;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  };
  std::size_t total = 2;
  for (std::size_t i = 0, at = 0; i < widths.size(); at += widths[i++] + 2)
    if (widths[i] > 0) total = at + widths[i] + 2;  // an empty column at the end is not seen
  const std::string rule = std::string(indent, ' ') + std::string(total - 2, '-');
  write([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  result += rule + "\n";
  for (const auto& row : rows_) {
    if (row.empty()) {
      result += rule + "\n";
    } else {
      write([&](std::size_t i) -> const std::string& { return row[i]; });
    }
  }
  return result;
}

}  // namespace monet
