// Tables of measurements as they are read: lines by the names of their columns.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace monet {

// One line. Errors name file and line.
class CsvRecord {
 public:
  using Cells = std::vector<std::string>;
  CsvRecord(std::shared_ptr<const Cells> columns, Cells cells, std::string place);

  // Whether the line has something in that column.
  bool has(const char* column) const;
  // Fails when there is no such column.
  Expected<std::string> text(const char* column) const;
  // Fail also when it is not that.
  Expected<std::int64_t> integer(const char* column) const;
  Expected<double> number(const char* column) const;
  Error error(std::string message) const;
  const std::string& place() const { return place_; }

 private:
  const std::string* find(const char* column) const;  // null: not there
  std::shared_ptr<const Cells> columns_;
  Cells cells_;
  std::string place_;
};

// All lines of a file after the first, which names the columns. Fields with commas stand in quotes. `advice` is for a
// file that cannot be read. Fails for a line that has more or fewer fields than the heading.
Expected<std::vector<CsvRecord>> read_csv(const std::string& path, const std::string& advice);

}  // namespace monet
