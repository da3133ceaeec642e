// Aligned columns of text.
#pragma once

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

  explicit Table(std::vector<Column> columns);
  // Requires as many cells as columns.
  void add(std::vector<std::string> cells);
  // A line between what came before and what comes after.
  void add_rule();
  // Each line begins with so many blanks.
  std::string text(std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // empty: a rule
};

}  // namespace monet
