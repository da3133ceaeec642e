#include "present/text/layout.h"

#include <algorithm>
#include <limits>

namespace monet {

namespace {

using LineKind = TextLine::Kind;

constexpr std::size_t column_gap = 2;   // blanks between columns
constexpr std::size_t least_text = 24;  // characters in which words are still worth wrapping

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// Pieces of at most so many characters where words allow, the first one of at most `first`.
std::vector<std::string> wrapped(std::string_view text, std::size_t first, std::size_t columns) {
  std::vector<std::string> pieces{""};
  std::size_t room = first;
  while (!text.empty()) {
    const std::size_t start = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view blanks = text.substr(0, start), word = text.substr(start, end - start);
    std::string& piece = pieces.back();
    if (piece.empty() || width_of(piece) + blanks.size() + width_of(word) <= room) {
      piece.append(piece.empty() ? "" : blanks).append(word);
    } else if (!word.empty()) {
      pieces.emplace_back(word);
      room = columns;
    }
    text.remove_prefix(end);
  }
  return pieces;
}

class TableLayout {
 public:
  // Keeps references.
  TableLayout(const Table& table, std::size_t columns, std::vector<TextLine>& lines)
      : table_(table), columns_(columns > 0 ? columns : std::numeric_limits<std::size_t>::max()), lines_(lines) {
    for (const Table::Column& column : table.columns()) heading_.push_back(column.title);
    for (std::size_t i = 0; i < heading_.size(); ++i) {
      std::size_t width = width_of(heading_[i]);
      for (const Table::Row& row : table.rows()) {
        if (!row.empty()) width = std::max(width, width_of(row[i]));
      }
      widths_.push_back(width);
    }
    for (std::size_t i = 0; i < widths_.size(); ++i) shown_.push_back(i);
    while (shown_.size() > 1 && widths_[shown_.back()] == 0)
      shown_.pop_back();  // an empty column at the end is not seen
  }

  void run() {
    for (std::size_t next = 1; next < shown_.size() || next == 1;) {
      std::vector<std::size_t> block{shown_.front()};
      std::size_t used = table_.indent() + widths_[shown_.front()];
      const std::size_t from = next;
      while (next < shown_.size() && (next == from || used + column_gap + widths_[shown_[next]] <= columns_ ||
                                      wraps(shown_[next], used + column_gap))) {
        used += column_gap + widths_[shown_[next]];
        block.push_back(shown_[next++]);
      }
      if (from > 1) lines_.push_back({"", LineKind::words});
      write(block, from > 1);
      if (shown_.size() <= 1) break;
    }
  }

 private:
  // The last one, of words, with room for some of them.
  bool wraps(std::size_t column, std::size_t before) const {
    return column == shown_.back() && before + least_text <= columns_ && is_of_words(column);
  }

  bool is_of_words(std::size_t column) const {
    return widths_[column] > least_text && table_.columns()[column].align == Table::Align::left;
  }

  std::string padded(const std::string& cell, std::size_t column) const {
    const std::string space(widths_[column] - width_of(cell), ' ');
    return table_.columns()[column].align == Table::Align::left ? cell + space : space + cell;
  }

  // `again`: below a table with the same names, so that a row which has nothing but its name is left out.
  void write(const std::vector<std::size_t>& block, bool again) {
    std::size_t before = table_.indent();  // the last column
    for (std::size_t i = 0; i + 1 < block.size(); ++i) before += widths_[block[i]] + column_gap;
    const std::size_t last = block.back();
    const std::size_t room =
        before + widths_[last] > columns_ && wraps(last, before) ? columns_ - before : widths_[last];
    const std::string rule = std::string(table_.indent(), ' ') + std::string(before + room - table_.indent(), '-');
    write_row(heading_, LineKind::heading, block, before, room);
    lines_.push_back({rule, LineKind::rule});
    for (const Table::Row& row : table_.rows()) {
      const bool bare = !row.empty() && std::all_of(block.begin() + 1, block.end(),
                                                    [&](std::size_t column) { return row[column].empty(); });
      if (row.empty()) {
        lines_.push_back({rule, LineKind::rule});
      } else if (!again || !bare) {
        write_row(row, LineKind::row, block, before, room);
      }
    }
  }

  // The cell of the last column takes `room` characters, and more lines where it is longer.
  void write_row(const Table::Row& row, LineKind kind, const std::vector<std::size_t>& block, std::size_t before,
                 std::size_t room) {
    std::string line(table_.indent(), ' ');
    for (std::size_t i = 0; i + 1 < block.size(); ++i)
      line += padded(row[block[i]], block[i]) + std::string(column_gap, ' ');
    const std::string& cell = row[block.back()];
    if (width_of(cell) <= room) {
      lines_.push_back({without_trailing_blanks(line + padded(cell, block.back())), kind});
      return;
    }
    for (const std::string& piece : wrapped(cell, room, room)) {
      lines_.push_back({without_trailing_blanks(line + piece), kind});
      line = std::string(before, ' ');
    }
  }

  const Table& table_;
  std::size_t columns_;
  std::vector<TextLine>& lines_;
  Table::Row heading_;
  std::vector<std::size_t> widths_;  // by column
  std::vector<std::size_t> shown_;   // columns
};

// Where the rest of a long line goes on: under its value in "title        value", else a bit further in.
std::size_t hanging_of(std::string_view line) {
  constexpr std::size_t widest = 24;  // what is not found is further than that
  const std::size_t indent = indent_of(line);
  const std::size_t blanks = line.find("  ", indent);
  if (blanks > widest) return indent + 2;
  const std::size_t value = line.find_first_not_of(' ', blanks);
  return value > widest ? indent + 2 : width_of(line.substr(0, value));
}

void lay_out(std::string_view line, std::size_t columns, std::vector<TextLine>& lines) {
  constexpr std::size_t least = 20;  // characters of words in a line
  const std::size_t hanging = hanging_of(line);
  if (columns == 0 || width_of(line) <= columns || hanging + least > columns) {
    lines.push_back({std::string(line)});
    return;
  }
  const std::size_t indent = indent_of(line);
  std::string before(line.substr(0, indent));
  for (const std::string& piece : wrapped(line.substr(indent), columns - indent, columns - hanging)) {
    lines.push_back({before + piece});
    before = std::string(hanging, ' ');
  }
}

}  // namespace

std::vector<TextLine> laid_out(const Text& text, std::size_t columns) {
  std::vector<TextLine> lines;
  for (const Text::Part& part : text.parts()) {
    if (part.table) {
      TableLayout(*part.table, columns, lines).run();
    } else {
      for (const std::string_view line : lines_of(part.lines)) lay_out(line, columns, lines);
    }
  }
  return lines;
}

std::size_t width_of(std::string_view text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };  // a UTF-8 character
  return static_cast<std::size_t>(std::ranges::count_if(text, [&](char c) { return !continues(c); }));
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

std::size_t indent_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string_view::npos ? line.size() : first;
}

}  // namespace monet
