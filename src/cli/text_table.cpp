#include "cli/text_table.h"

#include "cli/layout.h"

#include <algorithm>

namespace monet::cli {

namespace {

constexpr std::size_t least_text = 24;  // columns in which words are still worth wrapping

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }  // inside a UTF-8 character

// By character, so that columns can be counted.
using Row = std::vector<std::string>;

Row row_of(std::string_view line) {
  Row row;
  for (const char c : line) {
    if (!continues(c) || row.empty()) row.emplace_back();
    row.back() += c;
  }
  return row;
}

struct Segment {
  std::size_t begin = 0, end = 0;
  std::size_t width() const { return end - begin; }
};

std::string cell_of(const Row& row, const Segment& segment) {
  std::string cell;
  for (std::size_t i = segment.begin; i < std::min(segment.end, row.size()); ++i) cell += row[i];
  return cell;
}

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

bool is_blank(const Row& row, std::size_t at) { return at >= row.size() || row[at] == " "; }

class TextTable {
 public:
  explicit TextTable(std::span<const std::string_view> lines) {
    for (const std::string_view line : lines) rows_.push_back(is_rule(line) ? Row{} : row_of(line));
    for (const Row& row : rows_) width_ = std::max(width_, row.size());
    indent_ = lines[1].find('-');  // a heading may begin with an empty one
    find_segments();
  }

  std::string text(std::size_t columns) const {
    std::string out;
    for (std::size_t next = 1; next < segments_.size() || next == 1;) {
      std::vector<Segment> block{segments_.front()};
      std::size_t used = segments_.front().end;
      const std::size_t from = next;
      while (next < segments_.size() &&
             (next == from || used + 2 + segments_[next].width() <= columns || wraps(segments_[next], used, columns))) {
        used += 2 + segments_[next].width();
        block.push_back(segments_[next++]);
      }
      if (from > 1) out += '\n';
      write(block, columns, from > 1, out);
      if (segments_.size() == 1) break;
    }
    return out;
  }

 private:
  // Columns in which all rows are blank part the cells, if there are two of them at least.
  void find_segments() {
    std::size_t blanks = 2;
    for (std::size_t at = indent_; at < width_; ++at) {
      const bool blank = std::ranges::all_of(rows_, [&](const Row& row) { return row.empty() || is_blank(row, at); });
      if (blank) {
        ++blanks;
        continue;
      }
      if (blanks >= 2 || segments_.empty()) segments_.push_back({at, at});
      segments_.back().end = at + 1;
      blanks = 0;
    }
    if (segments_.empty()) segments_.push_back({0, width_});  // all of it left of the rule
    segments_.front().begin = 0;
  }

  // The last one, of words, with room for some of them.
  bool wraps(const Segment& segment, std::size_t used, std::size_t columns) const {
    return segment.end == segments_.back().end && used + 2 + least_text <= columns && is_text(segment);
  }

  bool is_text(const Segment& segment) const {
    return segment.width() > least_text && std::ranges::all_of(rows_, [&](const Row& row) {
             return row.size() <= segment.begin || !is_blank(row, segment.begin) ||
                    without_trailing_blanks(cell_of(row, segment)).empty();
           });
  }

  // Nothing but its name stands in these columns.
  bool is_bare(const Row& row, const std::vector<Segment>& block) const {
    return &row != &rows_.front() && std::all_of(block.begin() + 1, block.end(), [&](const Segment& segment) {
      return without_trailing_blanks(cell_of(row, segment)).empty();
    });
  }

  // `again`: below a table with the same names.
  void write(const std::vector<Segment>& block, std::size_t columns, bool again, std::string& out) const {
    std::size_t before = 0;  // the last segment
    for (std::size_t i = 0; i + 1 < block.size(); ++i) before += block[i].width() + 2;
    const Segment& last = block.back();
    const bool wrap = before + last.width() > columns && before + least_text <= columns && is_text(last);
    const std::size_t room = wrap ? columns - before : last.width();
    for (const Row& row : rows_) {
      if (row.empty()) {
        out += std::string(indent_, ' ') + std::string(std::max(before + room, indent_) - indent_, '-') + "\n";
        continue;
      }
      if (again && is_bare(row, block)) continue;
      std::string line;
      for (std::size_t i = 0; i + 1 < block.size(); ++i) {
        const std::string cell = cell_of(row, block[i]);
        line += cell + std::string(block[i].width() - width_of(cell) + 2, ' ');
      }
      const std::string cell = without_trailing_blanks(cell_of(row, last));
      if (!wrap || width_of(cell) <= room) {
        out += without_trailing_blanks(line + cell) + "\n";
        continue;
      }
      for (const std::string& piece : wrapped(cell, room, room)) {
        out += without_trailing_blanks(line + piece) + "\n";
        line = std::string(before, ' ');
      }
    }
  }

  std::vector<Row> rows_;  // empty: a rule
  std::vector<Segment> segments_;
  std::size_t width_ = 0, indent_ = 0;
};

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_rule(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first != std::string_view::npos && line.size() >= first + 3 &&
         line.find_first_not_of('-', first) == std::string_view::npos;
}

std::size_t table_at(std::span<const std::string_view> lines, std::size_t at) {
  if (at + 1 >= lines.size() || lines[at].empty() || is_rule(lines[at]) || !is_rule(lines[at + 1])) return 0;
  const std::size_t indent = lines[at + 1].find('-');
  std::size_t end = at + 2;
  while (end < lines.size() && !lines[end].empty() && lines[end].find_first_not_of(' ') >= indent) ++end;
  // What is said below a table without a blank line has no columns.
  while (end > at + 2 && !is_rule(lines[end - 1]) &&
         lines[end - 1].find("  ", std::min(indent, lines[end - 1].size())) == std::string_view::npos)
    --end;
  return end - at;
}

std::string table_text(std::span<const std::string_view> rows, std::size_t columns) {
  const bool fits = std::ranges::all_of(rows, [&](std::string_view row) { return width_of(row) <= columns; });
  if (!fits) return TextTable(rows).text(columns);
  std::string out;
  for (const std::string_view row : rows) out.append(row) += '\n';
  return out;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t first, std::size_t columns) {
  std::vector<std::string> pieces{""};
  std::size_t room = first;
  while (!text.empty()) {
    const std::size_t start = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view gap = text.substr(0, start), word = text.substr(start, end - start);
    std::string& piece = pieces.back();
    if (piece.empty() || width_of(piece) + gap.size() + width_of(word) <= room) {
      piece.append(piece.empty() ? "" : gap).append(word);
    } else if (!word.empty()) {
      pieces.emplace_back(word);
      room = columns;
    }
    text.remove_prefix(end);
  }
  return pieces;
}

}  // namespace monet::cli
