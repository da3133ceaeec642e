#include "base/read_file.h"
#include "base/text.h"
#include "base/try.h"
#include "training/simulate/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace monet::training {

namespace {

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t comma = line.find(','); comma != std::string_view::npos; comma = line.find(',')) {
    fields.push_back(line.substr(0, comma));
    line.remove_prefix(comma + 1);
  }
  fields.push_back(line);
  return fields;
}

class Reader {
 public:
  Reader(const TaskGraph& task, const std::string& file)
      : task_(task),
        file_(file),
        columns_(empty_columns(task)),
        vocabulary_(vocabulary_of(task.graph, task.inputs[0])) {}

  Expected<Samples> read(std::string_view text) {
    MONET_RETURN_IF_ERROR(check_inputs());
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // UTF-8, says the file
    for (; !text.empty(); ++line_) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (trimmed(line).empty()) continue;
      const std::vector<std::string_view> fields = fields_of(line);
      if (samples_.count == 0 && !heading_seen_ && is_heading(fields)) {
        heading_seen_ = true;
        continue;
      }
      MONET_RETURN_IF_ERROR(add(fields));
    }
    samples_.columns = std::move(columns_);
    samples_.description = fmt::format("{}: {} samples", file_, samples_.count);
    return std::move(samples_);
  }

 private:
  Status check_inputs() const {
    if (columns_.size() == 2 && columns_[0].a_sample > 0) return Done{};
    return Error{.message = fmt::format("the network has {} inputs, and a file can feed only one", columns_.size() - 1),
                 .place = "--data",
                 .advice = "leave --data out: the made-up task feeds them all"};
  }

  static bool is_heading(const std::vector<std::string_view>& fields) {
    return std::ranges::none_of(fields, [](std::string_view field) { return number_in(field).has_value(); });
  }

  Error wrong(std::size_t field, std::string message, std::string advice = {}) const {
    return {
        .message = std::move(message),
        .place = field == 0 ? fmt::format("{}:{}", file_, line_) : fmt::format("{}:{}: field {}", file_, line_, field),
        .advice = std::move(advice)};
  }

  Status add(const std::vector<std::string_view>& fields) {
    const auto features = static_cast<std::size_t>(columns_[0].a_sample);
    const auto targets = static_cast<std::size_t>(columns_[1].a_sample);
    if (fields.size() != features + targets) {
      return wrong(0, fmt::format("there are {} numbers, not {}", fields.size(), features + targets),
                   fmt::format("a line holds {} features of '{}', then {}", features, columns_[0].name,
                               !task_.classifies() ? fmt::format("{} targets", targets)
                               : targets == 1      ? "the class"
                                                   : fmt::format("{} classes", targets)));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto value = number_in(fields[i]);
      if (!value) return wrong(i + 1, fmt::format("'{}' is not a number", trimmed(fields[i])));
      MONET_RETURN_IF_ERROR(check(i, *value, i >= features));
      columns_[i < features ? 0 : 1].values.push_back(*value);
    }
    ++samples_.count;
    return Done{};
  }

  Status check(std::size_t field, double value, bool target) const {
    const bool whole = target ? task_.classifies() : !is_floating(task_.graph[task_.inputs[0]].type.format.element);
    if (whole && value != std::floor(value)) return wrong(field + 1, fmt::format("{} is not a whole number", value));
    if (!target) {
      if (vocabulary_ == 0 || (value >= 0 && value < static_cast<double>(vocabulary_))) return Done{};
      return wrong(field + 1, fmt::format("there is no token {}", value),
                   fmt::format("the network knows {} tokens, from 0 to {}", vocabulary_, vocabulary_ - 1));
    }
    if (!task_.classifies() || value == static_cast<double>(task_.ignore_index)) return Done{};
    if (value >= 0 && value < static_cast<double>(task_.classes())) return Done{};
    return wrong(field + 1, fmt::format("there is no class {}", value),
                 fmt::format("the network has {} classes, from 0 to {}", task_.classes(), task_.classes() - 1));
  }

  const TaskGraph& task_;
  const std::string& file_;
  std::vector<Column> columns_;
  std::int64_t vocabulary_;
  Samples samples_;
  std::size_t line_ = 1;
  bool heading_seen_ = false;
};

}  // namespace

Expected<Samples> read_samples(const TaskGraph& task, const std::string& file) {
  MONET_TRY(const std::string text, read_file(file));
  return Reader(task, file).read(text);
}

}  // namespace monet::training
