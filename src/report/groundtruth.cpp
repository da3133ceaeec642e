#include "report/groundtruth.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace monet {

namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

// One line by column name.
class Record {
 public:
  Record(const std::vector<std::string>& columns, std::vector<std::string> cells, std::string place)
      : columns_(columns), cells_(std::move(cells)), place_(std::move(place)) {}

  Expected<std::string> text(const char* column) const {
    const auto found = std::ranges::find(columns_, column);
    const auto index = static_cast<std::size_t>(found - columns_.begin());
    if (found == columns_.end() || index >= cells_.size()) {
      return Error{.message = fmt::format("there is no column '{}'", column), .place = place_, .advice = {}};
    }
    return cells_[index];
  }

  Expected<std::int64_t> integer(const char* column) const { return value<std::int64_t>(column, "a whole number"); }
  Expected<double> number(const char* column) const { return value<double>(column, "a number"); }

 private:
  template <class Value>
  Expected<Value> value(const char* column, const char* kind) const {
    MONET_TRY(const std::string cell, text(column));
    Value value = 0;
    const auto read = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (read.ec == std::errc() && read.ptr == cell.data() + cell.size()) return value;
    return Error{
        .message = fmt::format("'{}' is not {} in column '{}'", cell, kind, column), .place = place_, .advice = {}};
  }

  const std::vector<std::string>& columns_;
  std::vector<std::string> cells_;
  std::string place_;
};

Expected<MeasuredStep> step_of(const Record& record) {
  MeasuredStep step;
  MONET_TRY(step.network, record.text("network"));
  MONET_TRY(step.batch, record.integer("batch"));
  MONET_TRY(step.precision, record.text("precision"));
  MONET_TRY(step.optimizer, record.text("optimizer"));
  MONET_TRY(const std::string checkpoint, record.text("checkpoint"));
  step.checkpoint = checkpoint == "yes";
  MONET_TRY(step.parameters, record.integer("parameters"));
  MONET_TRY(step.static_bytes, record.integer("static_bytes"));
  MONET_TRY(step.after_forward_bytes, record.integer("after_forward_bytes"));
  for (const char* phase : {"peak_forward_bytes", "peak_backward_bytes", "peak_optimizer_bytes"}) {
    MONET_TRY(const std::int64_t bytes, record.integer(phase));
    step.peak_bytes = std::max(step.peak_bytes, bytes);
  }
  MONET_TRY(step.step_ms, record.number("graph_step_ms"));
  MONET_TRY(step.energy_mj, record.number("energy_per_step_mj"));
  MONET_TRY(step.forward_flops, record.integer("fwd_flops"));
  MONET_TRY(step.backward_flops, record.integer("bwd_flops"));
  return step;
}

}  // namespace

std::string MeasuredStep::name() const {
  return fmt::format("{}, batch {}, {}, {}{}", network, batch, precision, optimizer,
                     checkpoint ? ", checkpointed" : "");
}

Expected<std::vector<MeasuredStep>> read_measured_steps(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    return Error{.message = "the reference measurements cannot be read",
                 .place = path,
                 .advice = "give the folder that has groundtruth/ and models/ with --data"};
  }
  const std::vector<std::string> columns = split(line);
  std::vector<MeasuredStep> steps;
  for (int number = 2; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    MONET_TRY(MeasuredStep step, step_of(Record(columns, split(line), fmt::format("{}:{}", path, number))));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace monet
