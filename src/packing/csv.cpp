#include "packing/csv.h"

#include "base/csv.h"
#include "base/suggest.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>

namespace monet {

namespace {

constexpr std::size_t most_columns = 1000;
constexpr std::size_t longest_id = 1000;

enum Column : std::size_t { id, lower, upper, size, alignment, column_count };
const std::vector<std::string> column_names = {"id", "lower", "upper", "size", "alignment"};

struct Field {
  std::string text;
  std::size_t column = 1;  // of its first character in the line
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& path, std::size_t most_rows)
      : text_(text), path_(path), most_rows_(most_rows) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  }

  Expected<PackTable> read() {
    MONET_TRY(const bool has_heading, next_row());
    if (!has_heading)
      return Error{.message = "the file is empty",
                   .place = path_,
                   .advice = "the first line names the columns: id,lower,upper,size"};
    MONET_RETURN_IF_ERROR(read_heading());
    while (true) {
      MONET_TRY(const bool more, next_row());
      if (!more) break;
      MONET_RETURN_IF_ERROR(read_row());
    }
    return std::move(table_);
  }

 private:
  Error wrong(std::size_t column, std::string message, std::string advice) const {
    return {.message = std::move(message),
            .place = fmt::format("{}:{}:{}", path_, line_, column),
            .advice = std::move(advice)};
  }

  // The fields of the next line that has any, into fields_. False at the end.
  Expected<bool> next_row() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
      MONET_RETURN_IF_ERROR(cut(line));
      return true;
    }
    return false;
  }

  Status cut(std::string_view line) {
    fields_.clear();
    for (std::size_t at = 0;;) {
      if (fields_.size() == most_columns)
        return wrong(at + 1, fmt::format("the line has more than {} fields", most_columns), "is it a CSV file?");
      while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
      Field& field = fields_.emplace_back();
      field.column = at + 1;
      if (at < line.size() && line[at] == '"') {
        MONET_RETURN_IF_ERROR(unquote(line, at, field));
      } else {
        const std::size_t end = std::min(line.find(',', at), line.size());
        field.text = line.substr(at, end - at);
        field.text.erase(field.text.find_last_not_of(" \t") + 1);
        at = end;
      }
      if (at == line.size()) return Done{};
      ++at;  // the comma
    }
  }

  // From the opening quote to the comma after the field.
  Status unquote(std::string_view line, std::size_t& at, Field& field) {
    for (++at;; ++at) {
      if (at == line.size()) return wrong(field.column, "the quotes are not closed", "a quote inside is written twice");
      if (line[at] != '"') {
        field.text += line[at];
      } else if (at + 1 < line.size() && line[at + 1] == '"') {
        field.text += line[at++];
      } else {
        break;
      }
    }
    at = std::min(line.find_first_not_of(" \t", at + 1), line.size());
    if (at < line.size() && line[at] != ',') return wrong(at + 1, "something follows the closing quote", "put a comma");
    return Done{};
  }

  Status read_heading() {
    width_ = fields_.size();
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto known = std::ranges::find(column_names, fields_[i].text);
      if (known == column_names.end()) {
        const std::string near = nearest(fields_[i].text, column_names);
        table_.notes.push_back(fmt::format("{}:{}:{}: the column \"{}\" is ignored{}", path_, line_, fields_[i].column,
                                           fields_[i].text.substr(0, longest_id),
                                           near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
        continue;
      }
      auto& place = columns_[static_cast<std::size_t>(known - column_names.begin())];
      if (place)
        return wrong(fields_[i].column, fmt::format("the column \"{}\" is there twice", *known), "remove one of them");
      place = i;
    }
    for (std::size_t c = 0; c < alignment; ++c) {
      if (columns_[c]) continue;
      std::vector<std::string> headings;
      for (const Field& field : fields_) headings.push_back(field.text);
      const std::string near = nearest(column_names[c], headings);
      return wrong(1, fmt::format("there is no column \"{}\"", column_names[c]),
                   near.empty() ? "the first line names the columns: id,lower,upper,size"
                                : fmt::format("is \"{}\" meant?", near));
    }
    return Done{};
  }

  Expected<std::int64_t> number(Column column) const {
    const Field& field = fields_[*columns_[column]];
    const char* const end = field.text.data() + field.text.size();
    std::int64_t value = 0;
    const auto read = std::from_chars(field.text.data(), end, value);
    const std::string shown = field.text.substr(0, 40);
    if (read.ec == std::errc::result_out_of_range)
      return wrong(field.column, fmt::format("{} is out of range", shown), "64 bits must do");
    if (read.ec != std::errc() || read.ptr != end)
      return wrong(field.column, fmt::format("the {} is \"{}\"", column_names[column], shown),
                   "it must be a whole number, without a unit");
    return value;
  }

  Error out_of_range(Column column, std::int64_t value, std::string advice) const {
    return wrong(fields_[*columns_[column]].column, fmt::format("the {} is {}", column_names[column], value),
                 std::move(advice));
  }

  Status read_row() {
    if (fields_.size() != width_)
      return wrong(1, fmt::format("the line has {} fields, the heading {}", fields_.size(), width_),
                   "each line needs a field for each column");
    if (table_.items.size() == most_rows_)
      return wrong(1, fmt::format("there are more than {} buffers", most_rows_), "split the file");
    PackItem item;
    MONET_TRY(item.lower, number(lower));
    MONET_TRY(item.upper, number(upper));
    MONET_TRY(item.size, number(size));
    if (item.upper < item.lower)
      return out_of_range(upper, item.upper, fmt::format("it must be at least the lower end, {}", item.lower));
    std::int64_t lifetime = 0;
    if (__builtin_sub_overflow(item.upper, item.lower, &lifetime))
      return out_of_range(upper, item.upper, "the lifetime must fit into 64 bits");
    if (item.size < 0) return out_of_range(size, item.size, "it must not be negative");
    if (columns_[alignment] && !fields_[*columns_[alignment]].text.empty()) {
      MONET_TRY(item.alignment, number(alignment));
      if (item.alignment < 1) return out_of_range(alignment, item.alignment, "it must be at least 1");
    }
    const std::int64_t room = pack_largest_total - total_;
    if (item.size > room || item.alignment > room - item.size)
      return out_of_range(size, item.size, "sizes and alignments together must be below 2^60");
    total_ += item.size + item.alignment;
    table_.items.push_back(item);
    return read_id();
  }

  Status read_id() {
    Field& field = fields_[*columns_[id]];
    field.text = csv_text(field.text);
    if (field.text.size() > longest_id)
      return wrong(field.column, fmt::format("the id has {} characters", field.text.size()),
                   fmt::format("at most {}", longest_id));
    const auto [other, fresh] = line_of_.emplace(field.text, line_);
    if (!fresh)
      return wrong(field.column, fmt::format("the id \"{}\" is already in line {}", field.text, other->second),
                   "ids must differ");
    table_.ids.push_back(std::move(field.text));
    return Done{};
  }

  std::string_view text_;  // what is still to be read
  const std::string& path_;
  std::size_t most_rows_;
  std::size_t line_ = 0;
  std::vector<Field> fields_;
  std::size_t width_ = 0;
  std::array<std::optional<std::size_t>, column_count> columns_;
  std::int64_t total_ = 0;
  std::unordered_map<std::string, std::size_t> line_of_;
  PackTable table_;
};

}  // namespace

Expected<PackTable> read_pack_csv(std::string_view text, const std::string& path, std::size_t most_rows) {
  return Reader(text, path, most_rows).read();
}

}  // namespace monet
