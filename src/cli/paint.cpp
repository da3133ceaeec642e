#include "cli/paint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace monet::cli {

namespace {

// A line over lines that are further in.
bool is_section(std::span<const TextLine> lines, std::size_t at) {
  return at + 1 < lines.size() && indent_of(lines[at].text) == 0 && indent_of(lines[at + 1].text) > 0 &&
         (at == 0 || lines[at - 1].text.empty());
}

std::string with_bad_words_red(std::string_view line) {
  static constexpr std::array<std::string_view, 4> bad = {"DOES NOT FIT", "too little", "check the description",
                                                          "ended before the search was done"};
  const auto found = std::ranges::find_if(bad, [&](auto words) { return line.find(words) != std::string::npos; });
  if (found == bad.end()) return std::string(line);
  const std::size_t at = line.find(*found);
  return fmt::format("{}{}{}", line.substr(0, at), painted(Style::red, *found), line.substr(at + found->size()));
}

std::string painted_line(std::span<const TextLine> lines, std::size_t at) {
  using Kind = TextLine::Kind;
  const TextLine& line = lines[at];
  if (line.kind == Kind::rule) return painted(Style::dim, line.text);
  const bool heading = line.kind == Kind::heading || (line.kind == Kind::words && (at == 0 || is_section(lines, at)));
  return heading ? painted(Style::bold, line.text) : with_bad_words_red(line.text);
}

}  // namespace

std::string painted(Style style, std::string_view text) {
  static constexpr std::array<int, 4> codes = {1, 2, 31, 33};
  return text.empty() ? "" : fmt::format("\033[{}m{}\033[0m", codes[static_cast<std::size_t>(style)], text);
}

std::string painted(std::span<const TextLine> lines) {
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) out += painted_line(lines, i) + "\n";
  return out;
}

std::string joined(std::span<const TextLine> lines) {
  std::string out;
  for (const TextLine& line : lines) out += line.text + "\n";
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
