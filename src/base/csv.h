// Files for spreadsheets.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace monet {

// What spreadsheets would take for a formula; they show what follows an apostrophe as it is (OWASP, CSV injection).
// Numbers are no formulas.
inline bool begins_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data() + (text.front() == '+' ? 1 : 0), end, number);
  return problem != std::errc() || stop != end;
}

// So does what begins with such an apostrophe of its own.
inline bool needs_apostrophe(std::string_view text) {
  return begins_formula(text) || (text.starts_with('\'') && needs_apostrophe(text.substr(1)));
}

// Behind an apostrophe where it would be a formula.
inline std::string csv_cell(const std::string& text) { return needs_apostrophe(text) ? "'" + text : text; }

// What csv_cell() was given.
inline std::string_view csv_text(std::string_view cell) {
  return cell.starts_with('\'') && needs_apostrophe(cell.substr(1)) ? cell.substr(1) : cell;
}

// The cell, in quotes where a comma, quote or end of line asks for it.
inline std::string csv_field(const std::string& text) {
  const std::string cell = csv_cell(text);
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string result = "\"";
  for (char c : cell) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

}  // namespace monet
