#include "evaluate/account/downsample.h"
#include "evaluate/run/fields.h"
#include "evaluate/run/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace monet {

namespace {

constexpr std::size_t curve_points = FillOptions().curve_points;

// Adds `times` of every part to the part of the same name.
template <class Value>
void add_parts(std::vector<std::pair<std::string, Value>>& to, const std::vector<std::pair<std::string, Value>>& from,
               double times) {
  for (const auto& [name, value] : from) {
    const auto found = std::ranges::find_if(to, [&](const auto& part) { return part.first == name; });
    const Value more = static_cast<Value>(static_cast<double>(value) * times);
    if (found != to.end()) {
      found->second += more;
    } else {
      to.emplace_back(name, more);
    }
  }
}

// Calls join(row of last, row of part) for rows of the same key, and add(row of part) for those that `last` lacks.
template <class Row, class Key, class Join, class Add>
void each_row(std::vector<Row>& last, const std::vector<Row>& part, const Key& key, const Join& join, const Add& add) {
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < last.size(); ++i) index.emplace(key(last[i]), i);
  for (const Row& row : part) {
    const auto found = index.find(key(row));
    if (found != index.end()) {
      join(last[found->second], row);
    } else {
      add(row);
    }
  }
}

class Repeat {
 public:
  Repeat(const Evaluation& part, std::int64_t times, Evaluation last)
      : part_(part),
        count_(times),
        times_(static_cast<double>(times)),
        shift_(times_ * part.latency_cycles),
        last_(std::move(last)) {}

  Evaluation run() {
    phases();
    operators();
    resources();
    memories();
    critical_path();
    events();
    add_parts(last_.energy, part_.energy, times_);
    add_parts(last_.latency_by, part_.latency_by, times_);
    add_parts(last_.energy_by, part_.energy_by, times_);
    last_.utilization *= last_.latency_cycles;
    last_.utilization += times_ * part_.utilization * part_.latency_cycles;
    last_.latency_cycles += shift_;
    if (last_.latency_cycles > 0) last_.utilization /= last_.latency_cycles;
    last_.latency_s += times_ * part_.latency_s;
    last_.energy_pj = std::accumulate(last_.energy.begin(), last_.energy.end(), 0.0,
                                      [](double sum, const auto& entry) { return sum + entry.second; });
    last_.macs += times_ * part_.macs;
    last_.tiles += count_ * part_.tiles;
    last_.transfers += count_ * part_.transfers;
    last_.bound_cycles += times_ * part_.bound_cycles;
    last_.bound_pj += times_ * part_.bound_pj;
    if (part_.bound_by != last_.bound_by && !part_.bound_by.empty()) {
      last_.bound_by = fmt::format("{}; in the last micro-batch {}", part_.bound_by, last_.bound_by);
    }
    return std::move(last_);
  }

 private:
  void phases() {
    const auto name = [](const PhaseResult& row) { return row.phase; };
    for (PhaseResult& row : last_.phases) row.start += shift_, row.end += shift_;
    const auto join = [&](PhaseResult& row, const PhaseResult& more) {
      if (more.busy_cycles > 0) row.start = more.start;
      add_amounts(row, more);
    };
    each_row(last_.phases, part_.phases, name, join, [](const PhaseResult&) {});
  }

  // All repetitions of `more` to `row`.
  template <class Row>
  void add_amounts(Row& row, const Row& more) const {
    std::vector<double> amounts;
    for_each_amount(more, [&](const auto& amount) { amounts.push_back(times_ * static_cast<double>(amount)); });
    auto next = amounts.begin();
    for_each_amount(row, [&](auto& amount) { amount += static_cast<std::remove_cvref_t<decltype(amount)>>(*next++); });
  }

  void operators() {
    for (OperatorResult& row : last_.operators) row.start += shift_, row.end += shift_;
    const auto join = [&](OperatorResult& row, const OperatorResult& more) {
      row.start = more.start;
      add_amounts(row, more);
    };
    const auto add = [&](const OperatorResult& more) {
      OperatorResult& row = last_.operators.emplace_back(more);
      for_each_amount(row, [](auto& amount) { amount = 0; });
      add_amounts(row, more);
      row.end += shift_ - part_.latency_cycles;
    };
    each_row(last_.operators, part_.operators, [](const OperatorResult& row) { return row.name; }, join, add);
  }

  void resources() {
    const double whole = shift_ + last_.latency_cycles;
    const auto key = [](const ResourceResult& row) { return row.kind + " " + row.name; };
    const auto join = [&](ResourceResult& row, const ResourceResult& more) {
      add_amounts(row, more);
      add_parts(row.idle_by, more.idle_by, times_);
      row.utilization = whole > 0 ? row.busy_cycles / whole : 0;
    };
    // A link or port that only one of the two uses: it stands still in the other.
    std::vector<ResourceResult> parts = part_.resources;
    const auto add_idle = [](std::vector<ResourceResult>& rows, const ResourceResult& other, double idle) {
      rows.push_back({.name = other.name, .kind = other.kind, .idle_cycles = idle});
    };
    each_row(
        last_.resources, part_.resources, key, [](ResourceResult&, const ResourceResult&) {},
        [&](const ResourceResult& row) { add_idle(last_.resources, row, last_.latency_cycles); });
    each_row(
        parts, last_.resources, key, [](ResourceResult&, const ResourceResult&) {},
        [&](const ResourceResult& row) { add_idle(parts, row, part_.latency_cycles); });
    each_row(last_.resources, parts, key, join, [](const ResourceResult&) {});
  }

  void memories() {
    for (MemoryResult& row : last_.memories) {
      row.peak_at += shift_;
      for (LiveTensor& alive : row.alive_at_peak) alive.start += shift_, alive.end += shift_;
      for (double& at : row.curve_at) at += shift_;
    }
    const auto join = [&](MemoryResult& row, const MemoryResult& more) {
      row.read_bytes += times_ * more.read_bytes;
      row.written_bytes += times_ * more.written_bytes;
      row.energy_pj += times_ * more.energy_pj;
      row.packed_peak_bytes = std::max(row.packed_peak_bytes, more.packed_peak_bytes);
      join_curve(row, more);
      if (more.live_peak_bytes < row.live_peak_bytes) return;  // the first moment counts
      row.live_peak_bytes = more.live_peak_bytes;
      row.peak_at = more.peak_at;
      row.peak_by_role = more.peak_by_role;
      row.alive_at_peak = more.alive_at_peak;
    };
    const auto add = [&](const MemoryResult& more) {
      MemoryResult& row = last_.memories.emplace_back(more);
      row.read_bytes *= times_;
      row.written_bytes *= times_;
      row.energy_pj *= times_;
    };
    each_row(last_.memories, part_.memories, [](const MemoryResult& row) { return row.name; }, join, add);
    // Which of the two is the higher is known only for the memories, not for their sum.
    const auto sum = [](const auto& footprint) {
      std::int64_t bytes = 0;
      for (const auto& entry : footprint) bytes += entry.second;
      return bytes;
    };
    if (sum(part_.footprint_bytes) > sum(last_.footprint_bytes)) last_.footprint_bytes = part_.footprint_bytes;
  }

  // The repetitions before it, as many as can be told apart.
  void join_curve(MemoryResult& row, const MemoryResult& more) const {
    std::vector<std::size_t> column(more.roles.size());
    for (std::size_t i = 0; i < column.size(); ++i) {
      const auto found = std::ranges::find(row.roles, more.roles[i]);
      column[i] = static_cast<std::size_t>(found - row.roles.begin());
      if (found != row.roles.end()) continue;
      row.roles.push_back(more.roles[i]);
      for (auto& point : row.curve) point.push_back(0);
    }
    std::vector<std::int64_t> heights;
    for (const auto& point : more.curve)
      heights.push_back(std::accumulate(point.begin(), point.end(), std::int64_t{0}));
    const auto shown = static_cast<std::size_t>(std::min<std::int64_t>(count_, curve_points / 3));
    const std::vector<std::size_t> kept = thinned(heights, curve_points / (shown + 1));
    std::vector<double> at;
    std::vector<std::vector<std::int64_t>> curve;
    for (std::size_t repetition = 0; repetition < shown; ++repetition) {
      for (const std::size_t i : kept) {
        at.push_back(more.curve_at[i] + static_cast<double>(repetition) * part_.latency_cycles);
        auto& point = curve.emplace_back(row.roles.size(), 0);
        for (std::size_t role = 0; role < column.size(); ++role) point[column[role]] = more.curve[i][role];
      }
    }
    row.curve_at.insert(row.curve_at.begin(), at.begin(), at.end());
    row.curve.insert(row.curve.begin(), curve.begin(), curve.end());
  }

  std::string skipped() const {
    return count_ == 2 ? "micro-batch 2, as the first" : fmt::format("micro-batches 2 to {}, as the first", count_);
  }

  void critical_path() {
    for (CriticalStep& step : last_.critical_path) step.start += shift_, step.end += shift_;
    std::vector<CriticalStep> steps = part_.critical_path;
    if (count_ > 1) {
      steps.push_back({.name = skipped(), .kind = "repeated", .start = part_.latency_cycles, .end = shift_});
    }
    last_.critical_path.insert(last_.critical_path.begin(), steps.begin(), steps.end());
    add_parts(last_.critical_by_kind, part_.critical_by_kind, times_);
  }

  // By row of the part's operators: that of all, which operators() has put together by name.
  std::vector<std::int64_t> rows_of_part() const {
    std::unordered_map<std::string_view, std::int64_t> row_of;
    for (std::size_t i = 0; i < last_.operators.size(); ++i)
      row_of.emplace(last_.operators[i].name, static_cast<std::int64_t>(i));
    std::vector<std::int64_t> rows;
    for (const OperatorResult& row : part_.operators) rows.push_back(row_of.at(row.name));
    return rows;
  }

  void events() {
    const auto before = static_cast<std::int64_t>(part_.trace.size());
    for (TraceEvent& event : last_.trace) {
      event.start += shift_, event.end += shift_;
      if (event.by >= 0) event.by += before;
    }
    last_.trace.insert(last_.trace.begin(), part_.trace.begin(), part_.trace.end());
    const std::vector<std::int64_t> rows = rows_of_part();
    for (std::size_t i = 0; i < part_.trace.size(); ++i) {
      std::int64_t& row = last_.trace[i].operator_row;
      if (row >= 0) row = rows[static_cast<std::size_t>(row)];
    }
    if (count_ > 1 && before > 0) {
      last_.trace.push_back({.track = "micro-batches",
                             .name = skipped(),
                             .kind = "repeated",
                             .start = part_.latency_cycles,
                             .end = shift_,
                             .critical = true});
    }
    for (Lifetime& lifetime : last_.lifetimes) lifetime.start += shift_, lifetime.end += shift_;
    last_.lifetimes.insert(last_.lifetimes.begin(), part_.lifetimes.begin(), part_.lifetimes.end());
  }

  const Evaluation& part_;
  std::int64_t count_;
  double times_;
  double shift_;
  Evaluation last_;
};

}  // namespace

Evaluation repeat(const Evaluation& part, std::int64_t times, Evaluation last) {
  if (times <= 0) return last;
  return Repeat(part, times, std::move(last)).run();
}

}  // namespace monet
