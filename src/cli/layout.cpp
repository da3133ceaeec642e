#include "cli/layout.h"

#include "cli/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace monet::cli {

namespace {

std::size_t indent_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string_view::npos ? line.size() : first;
}

// Where the rest of a long line goes on: under its value in "title        value", else a bit further in.
std::size_t hanging_of(std::string_view line) {
  constexpr std::size_t widest = 24;  // what is not found is further than that
  const std::size_t indent = indent_of(line);
  const std::size_t gap = line.find("  ", indent);
  if (gap > widest) return indent + 2;
  const std::size_t value = line.find_first_not_of(' ', gap);
  return value > widest ? indent + 2 : width_of(line.substr(0, value));
}

void wrap(std::string_view line, std::size_t columns, std::string& out) {
  const std::size_t hanging = hanging_of(line);
  if (hanging + 20 > columns) {  // no room to speak of
    out.append(line) += '\n';
    return;
  }
  const std::size_t indent = indent_of(line);
  bool first = true;
  // What stands before the value is kept as it is.
  std::string head(line.substr(0, indent));
  std::string_view rest = line.substr(indent);
  for (const std::string& piece : wrapped(rest, columns - indent, columns - hanging)) {
    out += first ? head + piece : std::string(hanging, ' ') + piece;
    out += '\n';
    first = false;
  }
}

}  // namespace

std::string fitted(const std::string& text, std::size_t columns) {
  const std::vector<std::string_view> lines = lines_of(text);
  std::string out;
  for (std::size_t i = 0; i < lines.size();) {
    const std::size_t rows = table_at(lines, i);
    if (rows > 0) {
      out += table_text({lines.begin() + static_cast<std::ptrdiff_t>(i), rows}, columns);
      i += rows;
    } else {
      if (width_of(lines[i]) <= columns) {
        out.append(lines[i]) += '\n';
      } else {
        wrap(lines[i], columns, out);
      }
      ++i;
    }
  }
  return out;
}

std::string painted(Style style, std::string_view text) {
  static constexpr std::array<int, 4> codes = {1, 2, 31, 33};
  return text.empty() ? "" : fmt::format("\033[{}m{}\033[0m", codes[static_cast<std::size_t>(style)], text);
}

std::string painted(const std::string& text) {
  static constexpr std::array<std::string_view, 4> bad = {"DOES NOT FIT", "too little", "check the description",
                                                          "ended before the search was done"};
  const std::vector<std::string_view> lines = lines_of(text);
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const bool section =
        i + 1 < lines.size() && indent_of(line) == 0 && indent_of(lines[i + 1]) > 0 && (i == 0 || lines[i - 1].empty());
    const auto found = std::ranges::find_if(bad, [&](auto words) { return line.find(words) != std::string::npos; });
    if (is_rule(line)) {
      out += painted(Style::dim, line);
    } else if (i == 0 || section ||
               (i + 1 < lines.size() && is_rule(lines[i + 1]) && !is_rule(lines[i]) &&
                (i == 0 || lines[i - 1].empty() || indent_of(line) > 0))) {
      out += painted(Style::bold, line);
    } else if (found != bad.end()) {
      const std::size_t at = line.find(*found);
      out.append(line.substr(0, at)) += painted(Style::red, *found);
      out.append(line.substr(at + found->size()));
    } else {
      out.append(line);
    }
    out += '\n';
  }
  return out;
}

std::string painted_help(const std::string& text) {
  std::string out;
  for (const std::string_view line : lines_of(text)) {
    const bool heading = !line.empty() && line.front() != ' ' && line.back() == ':';
    out.append(heading ? painted(Style::bold, line) : std::string(line)) += '\n';
  }
  return out;
}

}  // namespace monet::cli
