#include "base/csv.h"
#include "evaluate/run/fields.h"

#include <monet/evaluate.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace monet {

namespace {

std::string csv_cell(const std::string& text) { return csv_field(text); }
std::string csv_cell(const std::vector<std::string>& list) {
  return csv_field(fmt::format("{}", fmt::join(list, ";")));
}
std::string csv_cell(bool flag) { return flag ? "1" : "0"; }
template <class Number>
std::string csv_cell(Number number) {
  return fmt::format("{}", number);
}

// A heading, and a line for each row. `arrange` puts cells, with their names, in the order of columns.
template <class Row, class Arrange>
std::string csv_table(const std::vector<Row>& rows, const Arrange& arrange) {
  using Cells = std::vector<std::pair<std::string_view, std::string>>;
  const auto cells_of = [&](const Row& row) {
    Cells cells;
    for_each_field(row,
                   [&](const Field& field, const auto& value) { cells.emplace_back(field.name, csv_cell(value)); });
    arrange(row, cells);
    return cells;
  };
  std::string text;
  const auto add_line = [&](const Cells& cells, auto part) {
    for (std::size_t i = 0; i < cells.size(); ++i) (text += i > 0 ? "," : "") += cells[i].*part;
    text += '\n';
  };
  add_line(cells_of(Row()), &Cells::value_type::first);
  for (const Row& row : rows) add_line(cells_of(row), &Cells::value_type::second);
  return text;
}

}  // namespace

std::string to_csv(const Evaluation& evaluation) {
  return csv_table(evaluation.operators, [](const OperatorResult&, auto& cells) {
    // All that is time stands before what is energy.
    const auto column = [&](const char* name) {
      return std::ranges::find(cells, name, [](auto& cell) { return cell.first; });
    };
    const auto bound = column("bound_cycles");
    std::rotate(column("energy_pj"), bound, bound + 1);
  });
}

std::string to_lifetimes_csv(const Evaluation& evaluation) {
  return csv_table(evaluation.lifetimes, [](const Lifetime& row, auto& cells) {
    if (row.address < 0) cells.back().second.clear();
  });
}

}  // namespace monet
