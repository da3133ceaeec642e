// Files for spreadsheets.
#pragma once

#include <string>

namespace monet {

// In quotes where a comma, quote or end of line asks for it.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

}  // namespace monet
