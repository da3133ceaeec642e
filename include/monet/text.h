// Text for people: lines, and tables whose cells stay apart until they are printed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace monet {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  using Row = std::vector<std::string>;  // a cell for each column; empty: a rule

  // Each line begins with `indent` blanks.
  explicit Table(std::vector<Column> columns, std::size_t indent = 0);
  // Requires as many cells as columns.
  void add(Row cells);
  // A line between what came before and what comes after.
  void add_rule();

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Row>& rows() const { return rows_; }
  std::size_t indent() const { return indent_; }

 private:
  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::size_t indent_;
};

class Text {
 public:
  struct Part {
    std::string lines;           // each with its end
    std::optional<Table> table;  // instead of lines
  };

  Text() = default;
  Text(std::string lines);
  Text(const char* lines);
  Text(Table table);

  Text& operator+=(const Text& more);
  bool empty() const { return parts_.empty(); }
  const std::vector<Part>& parts() const { return parts_; }

  // All of it, tables as wide as they are.
  std::string plain() const;

 private:
  std::vector<Part> parts_;
};

Text operator+(Text first, const Text& second);

}  // namespace monet
