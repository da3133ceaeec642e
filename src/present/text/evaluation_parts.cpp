// Where time and energy go: phases, parts, operators, the critical path.
#include "base/quantities.h"
#include "present/text/evaluation.h"

#include <monet/text.h>

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

using Align = Table::Align;

constexpr std::size_t most_part_rows = 16;  // of tables whose length a machine or a network decides

double stalled(const OperatorResult& result) { return result.stall_cycles + result.load_cycles + result.fill_cycles; }

std::string rest_text(std::size_t shown, std::size_t all, const char* what) {
  return shown < all ? fmt::format("and {} more {}\n", grouped(static_cast<std::int64_t>(all - shown)), what) : "";
}

}  // namespace

Text phases_text(const Evaluation& evaluation) {
  if (evaluation.phases.empty()) return "";
  const TimeText time(evaluation.clock_hz);
  Table table({{"phase"},
               {"latency", Align::right},
               {"", Align::right},
               {"from", Align::right},
               {"to", Align::right},
               {"on cores", Align::right},
               {"energy", Align::right},
               {"", Align::right},
               {"MACs", Align::right}});
  PhaseResult sum;
  for (const PhaseResult& phase : evaluation.phases) {
    table.add({phase.phase, time(phase.latency_cycles), share_text(phase.latency_cycles, evaluation.latency_cycles),
               time(phase.start), time(phase.end), time(phase.busy_cycles), energy_text(phase.energy_pj),
               share_text(phase.energy_pj, evaluation.energy_pj), with_prefix(phase.macs)});
    sum.busy_cycles += phase.busy_cycles;
  }
  table.add_rule();
  table.add({"step", time(evaluation.latency_cycles), "", "", "", time(sum.busy_cycles),
             energy_text(evaluation.energy_pj), "", with_prefix(evaluation.macs)});
  return "\n" + table;
}

Text energy_table(const Evaluation& evaluation) {
  const CoreTypes types(evaluation);
  Parts parts;
  for (const auto& [name, pj] : evaluation.energy) {
    const std::size_t kind = name.find(' ') + 1;  // "memory pe0_0/sram"
    const std::string group = name.substr(0, kind) + types.group_of(name.substr(kind));
    const auto found = std::ranges::find(parts, group, &Parts::value_type::first);
    if (found == parts.end()) {
      parts.emplace_back(group, pj);
    } else {
      found->second += pj;
    }
  }
  std::erase_if(parts, [](const auto& part) { return part.second == 0; });
  if (parts.empty()) return "";
  std::ranges::stable_sort(parts, std::ranges::greater(), &Parts::value_type::second);
  Table table({{"energy of"}, {"", Align::right}, {"", Align::right}});
  const std::size_t shown = std::min(parts.size(), most_part_rows);
  for (std::size_t i = 0; i < shown; ++i)
    table.add({parts[i].first, energy_text(parts[i].second), share_text(parts[i].second, evaluation.energy_pj)});
  return "\n" + table + rest_text(shown, parts.size(), "parts");
}

Text operators_text(const Evaluation& evaluation, const EvaluateView& view) {
  if (evaluation.operators.empty()) return "";
  const TimeText time(evaluation.clock_hz);
  const CoreTypes types(evaluation);
  std::vector<const OperatorResult*> rows;
  double busy = 0;
  for (const OperatorResult& result : evaluation.operators) {
    busy += result.busy_cycles;
    if (result.tiles > 0) rows.push_back(&result);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &OperatorResult::busy_cycles);
  const std::size_t shown = view.operators == 0 ? rows.size() : std::min(rows.size(), view.operators);
  Table table({{"costliest operators"},
               {"type"},
               {"phase"},
               {"on"},
               {"tiles", Align::right},
               {"MACs", Align::right},
               {"on cores", Align::right},
               {"", Align::right},
               {"stalled", Align::right},
               {"slowed", Align::right},
               {"waited", Align::right},
               {"bound", Align::right},
               {"energy", Align::right},
               {"", Align::right}});
  for (std::size_t i = 0; i < shown; ++i) {
    const OperatorResult& row = *rows[i];
    table.add({row.name + (row.recomputed ? " (recomputed)" : ""), row.op, row.phase, types.text_of(row.cores),
               grouped(row.tiles), with_prefix(row.macs), time(row.busy_cycles), share_text(row.busy_cycles, busy),
               share_text(stalled(row), row.busy_cycles), share_text(row.slowed_cycles, row.busy_cycles),
               time(row.wait_cycles), ratio_text(row.busy_cycles, row.bound_cycles), energy_text(row.energy_pj),
               share_text(row.energy_pj, evaluation.energy_pj)});
  }
  return "\n" + table + rest_text(shown, rows.size(), "operators; --operators 0 shows all");
}

Text critical_path_text(const Evaluation& evaluation) {
  if (evaluation.critical_path.empty()) return "";
  const TimeText time(evaluation.clock_hz);
  struct Row {
    std::string name, kind;
    std::int64_t steps = 0;
    double cycles = 0, first = 0;
  };
  std::vector<Row> rows;
  std::map<std::pair<std::string, std::string>, std::size_t> row_of;
  for (const CriticalStep& step : evaluation.critical_path) {
    const auto [at, is_new] = row_of.try_emplace({step.name, step.kind}, rows.size());
    if (is_new) rows.push_back({step.name, step.kind, 0, 0, step.start});
    ++rows[at->second].steps;
    rows[at->second].cycles += step.end - step.start;
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &Row::cycles);
  Table table({{"critical path"},
               {"kind"},
               {"steps", Align::right},
               {"first at", Align::right},
               {"time", Align::right},
               {"", Align::right}});
  const std::size_t shown = std::min(rows.size(), most_part_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    table.add({rows[i].name, rows[i].kind, grouped(rows[i].steps), time(rows[i].first), time(rows[i].cycles),
               share_text(rows[i].cycles, evaluation.latency_cycles)});
  }
  std::string kinds;
  for (const auto& [kind, cycles] : evaluation.critical_by_kind) {
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind, share_text(cycles, evaluation.latency_cycles));
  }
  return "\n" + table + rest_text(shown, rows.size(), "on the path") +
         (kinds.empty() ? "" : "the path is " + kinds + "\n");
}

}  // namespace monet
