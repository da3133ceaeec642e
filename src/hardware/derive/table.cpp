#include "hardware/derive/table.h"

#include "base/require.h"

#include <algorithm>
#include <charconv>

namespace monet {

namespace {

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

}  // namespace

CostTable::CostTable(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line.starts_with('#')) continue;
    auto cells = cells_of(line);
    if (columns_.empty()) {
      columns_ = std::move(cells);
    } else {
      MONET_REQUIRE(cells.size() == columns_.size());
      cells_.push_back(std::move(cells));
    }
  }
}

const std::string& CostTable::text(std::size_t row, std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  MONET_REQUIRE(found != columns_.end());
  return cells_[row][static_cast<std::size_t>(found - columns_.begin())];
}

double CostTable::number(std::size_t row, std::string_view column) const {
  const std::string& cell = text(row, column);
  double value = 0;
  const auto read = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  MONET_REQUIRE(read.ec == std::errc());
  return value;
}

}  // namespace monet
