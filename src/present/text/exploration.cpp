#include <monet/explore.h>
#include <monet/text.h>

#include "base/quantities.h"
#include "base/try.h"
#include "explore/summary.h"
#include "present/shared/numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

std::string count_text(std::uint64_t count) { return grouped(static_cast<std::int64_t>(count)); }

std::string seen_text(const Exploration& exploration) {
  const auto size = static_cast<double>(exploration.space_size);
  const double percent = size > 0 ? 100 * static_cast<double>(exploration.seen) / size : 0;
  std::string text = fmt::format("{} of {} designs seen ({}%): {} ran, {} cannot run", count_text(exploration.seen),
                                 count_text(exploration.space_size),
                                 exploration.seen == exploration.space_size ? "100" : fmt::format("{:.2g}", percent),
                                 count_text(exploration.evaluated), count_text(exploration.failed));
  if (exploration.excluded > 0) text += fmt::format(", {} are excluded", count_text(exploration.excluded));
  if (exploration.fresh > 0) {
    text += fmt::format("\n{} of them now, in {} ({:.4g} a second)", count_text(exploration.fresh),
                        seconds_text(exploration.wall_s), exploration.designs_per_s);
  }
  if (!exploration.complete) text += "\nended before the search was done";
  return text + "\n";
}

// Of all designs, or of how many.
std::string recipes_text(const Exploration& exploration) {
  std::string text;
  for (const auto& [recipe, designs] : exploration.recipes) {
    text += "numbers: " + numbers_text(recipe, "");
    if (designs < exploration.evaluated) text += fmt::format(" ({} designs)", count_text(designs));
    text += '\n';
  }
  return text;
}

Text front_text(const Exploration& exploration, std::size_t most) {
  if (exploration.front.empty()) return "";
  std::vector<Table::Column> columns{{"design", Table::Align::right}};
  for (const auto& parameter : exploration.front[0].parameters)
    columns.push_back({parameter.first, Table::Align::right});
  for (const std::string& objective : exploration.objectives) columns.push_back({objective, Table::Align::right});
  // What a reader asks next.
  const std::vector<std::pair<std::string, std::string>> others = {
      {"latency", "latency_s"}, {"energy", "energy_pj"}, {"area", "area_mm2"}, {"memory", "peak_bytes"}};
  std::vector<std::pair<std::string, std::string>> shown;
  for (const auto& other : others) {
    if (std::ranges::find(exploration.objectives, other.first) == exploration.objectives.end()) shown.push_back(other);
  }
  for (const auto& other : shown) columns.push_back({other.first, Table::Align::right});
  Table table(columns);
  const std::size_t rows = most == 0 ? exploration.front.size() : std::min(most, exploration.front.size());
  std::size_t merged = 0;
  for (const DesignResult& result : exploration.front) merged += result.like.size();
  for (std::size_t i = 0; i < rows; ++i) {
    const DesignResult& result = exploration.front[i];
    const bool marked = exploration.has_knee && i == exploration.recommended;
    std::vector<std::string> cells{(marked ? "knee " : "") + std::to_string(result.design)};
    for (const auto& parameter : result.parameters) cells.push_back(parameter.second);
    for (std::size_t k = 0; k < result.objectives.size(); ++k)
      cells.push_back(objective_text(exploration.objectives[k], result.objectives[k]));
    for (const auto& other : shown) {
      const auto found = std::ranges::find(result.metrics, other.second, &std::pair<std::string, double>::first);
      cells.push_back(found == result.metrics.end() ? "" : objective_text(other.first, found->second));
    }
    table.add(std::move(cells));
  }
  Text text = fmt::format("\nThe front in {}: {} designs", fmt::join(exploration.objectives, ", "),
                          count_text(exploration.front.size()));
  if (std::isfinite(exploration.hypervolume)) text += fmt::format(", hypervolume {:.4f}", exploration.hypervolume);
  text += "\n";
  if (merged > 0) {
    text += fmt::format("{} more differ from one of them by no more than {:g}% in any objective\n", count_text(merged),
                        100 * exploration.tolerance);
  }
  text += "\n" + table;
  if (rows < exploration.front.size())
    text += fmt::format("and {} more; --front 0 shows all\n", exploration.front.size() - rows);
  if (!exploration.recommended_why.empty()) {
    text += fmt::format("\nrecommended: design {}, {}\n", exploration.front[exploration.recommended].design,
                        exploration.recommended_why);
  }
  return text;
}

// "61.0% (38 to 76)"; of few designs nothing can be said.
std::string share_text(const Sensitivity& row) {
  if (row.share_low == row.share_high) return fmt::format("{:.1f}%", 100 * row.share);
  if (row.share_low <= 0 && row.share_high >= 1) return "not known";
  return fmt::format("{:.0f}% ({:.0f} to {:.0f})", 100 * row.share_likely, 100 * row.share_low, 100 * row.share_high);
}

Text failures_text(const Exploration& exploration) {
  constexpr std::size_t most = 10;
  if (exploration.failures.empty()) return "";
  Table table({{"designs", Table::Align::right}, {"cannot run or are excluded, because"}});
  for (std::size_t i = 0; i < std::min(most, exploration.failures.size()); ++i) {
    std::string reason = exploration.failures[i].first;
    std::ranges::replace(reason, '\n', ' ');
    table.add({count_text(exploration.failures[i].second), std::move(reason)});
  }
  Text text = "\n" + table;
  if (exploration.failures.size() > most)
    text += fmt::format("and {} more reasons; --json has all\n", exploration.failures.size() - most);
  return text;
}

std::string range_text(const Sensitivity& sensitivity) {
  const SensitivityRow *low = nullptr, *high = nullptr;
  for (const SensitivityRow& row : sensitivity.values) {
    if (row.designs == 0) continue;
    if (low == nullptr || row.mean < low->mean) low = &row;
    if (high == nullptr || row.mean > high->mean) high = &row;
  }
  if (low == nullptr || low == high) return "";
  return fmt::format("{} at {} to {} at {}", objective_text(sensitivity.objective, low->mean), low->value,
                     objective_text(sensitivity.objective, high->mean), high->value);
}

Text sensitivities_text(const Exploration& exploration) {
  if (exploration.evaluated < 2) return "";
  Table table(
      {{"objective"}, {"parameter"}, {"share of variance", Table::Align::right}, {"geometric mean, from and to"}});
  for (std::size_t i = 0; i < exploration.objectives.size(); ++i) {
    std::vector<const Sensitivity*> rows;
    for (const Sensitivity& sensitivity : exploration.sensitivities) {
      if (sensitivity.objective == exploration.objectives[i]) rows.push_back(&sensitivity);
    }
    std::ranges::stable_sort(rows, std::greater(), &Sensitivity::share_likely);
    if (i > 0) table.add_rule();
    for (const Sensitivity* row : rows) {
      table.add({row == rows.front() ? row->objective : "", row->parameter, share_text(*row), range_text(*row)});
    }
  }
  const bool sampled = std::ranges::any_of(exploration.sensitivities, [](const Sensitivity& sensitivity) {
    return sensitivity.share_low != sensitivity.share_high;
  });
  Text text = "\nWhich parameter matters how much, by itself\n";
  if (sampled) {
    text += fmt::format(
        "Of {} designs, for the whole space; in brackets where the share lies with 90 % confidence. From 0: not told\n"
        "from chance.\n",
        count_text(exploration.evaluated));
  }
  text += "\n" + table;
  return text;
}

Text correlations_text(const Exploration& exploration) {
  if (exploration.correlations.empty() || exploration.evaluated < 2) return "";
  Table table({{"workloads"}, {"metric"}, {"rank correlation", Table::Align::right}, {"designs", Table::Align::right}});
  for (const RankCorrelation& one : exploration.correlations) {
    table.add({one.a + " and " + one.b, one.metric,
               std::isfinite(one.spearman) ? fmt::format("{:+.3f}", one.spearman) : "none", count_text(one.designs)});
  }
  return "\nDo workloads agree on which design is better? (Spearman: 1 fully, 0 not at all)\n\n" + table;
}

}  // namespace

Text to_text(const Exploration& exploration, const ExplorationView& view) {
  Text text = exploration.space;
  if (!exploration.description.empty()) text += ": " + exploration.description;
  text += "\n" + seen_text(exploration);
  if (!exploration.store.empty()) text += fmt::format("store: {}\n", exploration.store);
  text += recipes_text(exploration);
  text += front_text(exploration, view.front) + failures_text(exploration);
  if (view.sensitivities) text += sensitivities_text(exploration);
  return text + correlations_text(exploration);
}

Text to_text(const Rescue& rescue) {
  Text text = fmt::format("{} designs of {} are now in {}\n", grouped(static_cast<std::int64_t>(rescue.rescued)),
                          rescue.damaged, rescue.store);
  if (rescue.broken > 0)
    text += fmt::format("{} designs are there in part and were left out; --resume evaluates them again\n",
                        grouped(static_cast<std::int64_t>(rescue.broken)));
  return text;
}

Expected<Exploration> show_store(const ShowOptions& options) {
  MONET_TRY(explore::Store store, explore::Store::open_to_read(options.store));
  MONET_TRY(const auto objectives, objectives_named(store.space(), options.objectives));
  Exploration exploration{.store = options.store};
  MONET_RETURN_IF_ERROR(analyse(store, objectives, options.tolerance, exploration));
  return exploration;
}

}  // namespace monet
