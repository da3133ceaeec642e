#include "base/csv_records.h"

#include "base/read_file.h"
#include "base/text.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

namespace monet {

namespace {

// A field in quotes may have commas in it; two quotes in it stand for one.
CsvRecord::Cells split(std::string_view line) {
  CsvRecord::Cells cells(1);
  bool quoted = false;
  for (const char c : trimmed(line)) {
    if (c == '"') {
      quoted = !quoted;
      if (quoted && !cells.back().empty()) cells.back() += c;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

template <class Value>
Expected<Value> value_in(const CsvRecord& record, const char* column, const char* kind) {
  MONET_TRY(const std::string cell, record.text(column));
  Value value = 0;
  const auto read = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (read.ec == std::errc() && read.ptr == cell.data() + cell.size()) return value;
  return record.error(fmt::format("'{}' is not {} in column '{}'", cell, kind, column));
}

}  // namespace

CsvRecord::CsvRecord(std::shared_ptr<const Cells> columns, Cells cells, std::string place)
    : columns_(std::move(columns)), cells_(std::move(cells)), place_(std::move(place)) {}

const std::string* CsvRecord::find(const char* column) const {
  const auto found = std::ranges::find(*columns_, column);
  if (found == columns_->end()) return nullptr;
  const auto index = static_cast<std::size_t>(found - columns_->begin());
  return index < cells_.size() ? &cells_[index] : nullptr;
}

bool CsvRecord::has(const char* column) const {
  const std::string* cell = find(column);
  return cell != nullptr && !cell->empty();
}

Expected<std::string> CsvRecord::text(const char* column) const {
  if (const std::string* cell = find(column)) return *cell;
  return error(fmt::format("there is no column '{}'", column));
}

Expected<std::int64_t> CsvRecord::integer(const char* column) const {
  return value_in<std::int64_t>(*this, column, "a whole number");
}

Expected<double> CsvRecord::number(const char* column) const { return value_in<double>(*this, column, "a number"); }

Error CsvRecord::error(std::string message) const {
  return {.message = std::move(message), .place = place_, .advice = {}};
}

Expected<std::vector<CsvRecord>> read_csv(const std::string& path, const std::string& advice) {
  auto text = read_file(path);
  if (!text) {
    text.error().advice = advice;
    return std::move(text).error();
  }
  std::istringstream file(*std::move(text));
  std::string line;
  if (!std::getline(file, line)) {
    return Error{.message = "the table is empty", .place = path, .advice = advice};
  }
  const auto columns = std::make_shared<const CsvRecord::Cells>(split(line));
  std::vector<CsvRecord> records;
  for (int number = 2; std::getline(file, line); ++number) {
    if (trimmed(line).empty()) continue;
    CsvRecord::Cells cells = split(line);
    const std::string place = fmt::format("{}:{}", path, number);
    if (cells.size() != columns->size()) {
      return Error{.message = fmt::format("the line has {} fields, and the heading {}", cells.size(), columns->size()),
                   .place = place,
                   .advice = "was the file cut off? Fields with commas stand in quotes"};
    }
    records.emplace_back(columns, std::move(cells), place);
  }
  return records;
}

}  // namespace monet
