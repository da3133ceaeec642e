// The program's own tables (data/hardware/): CSV with a header, '#' lines of comment, quotes around cells with commas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace monet {

class CostTable {
 public:
  // Requires a well-formed table: a cell for each column in each row.
  explicit CostTable(std::string_view text);

  std::size_t rows() const { return cells_.size(); }
  // Require that the column exists, and for a number that the cell is one.
  const std::string& text(std::size_t row, std::string_view column) const;
  double number(std::size_t row, std::string_view column) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> cells_;
};

}  // namespace monet
