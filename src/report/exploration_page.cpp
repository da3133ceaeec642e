#include <monet/explore.h>

#include "base/try.h"
#include "explore/store/store.h"
#include "report/exploration_analysis.h"
#include "report/exploration_charts.h"
#include "report/svg.h"
#include "report/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace monet {

using explore::Metric;
using explore::Outcome;
using explore::Space;
using Objectives = std::vector<explore::Objective>;

namespace {

constexpr std::string_view style = R"css(
:root { --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --line: #d1d9e0; --card: #f6f8fa; --point: #3b70c4;
  --front: #d1570c; --bar: #6b9bdf; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1; --line: #30363d;
  --card: #161b22; --point: #6ea0ef; --front: #f0954a; --bar: #3f6fb5; } }
body { margin: 0 auto; max-width: 1360px; padding: 24px 28px 60px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 26px; margin: 0; } h2 { font-size: 19px; margin: 36px 0 10px; } h3 { font-size: 14px; margin: 0 0 6px; }
p { margin: 4px 0 12px; color: var(--faint); max-width: 90ch; }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 18px 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 18px; }
.tile b { display: block; font-size: 21px; } .tile span { color: var(--faint); font-size: 13px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 640px)); gap: 16px; }
.small { grid-template-columns: repeat(auto-fill, minmax(310px, 1fr)); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px; overflow: hidden; }
.card svg { width: 100%; height: auto; max-width: 780px; }
.table { overflow-x: auto; max-height: 560px; overflow-y: auto; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 12px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { position: sticky; top: 0; background: var(--card); font-weight: 600; }
td.words, th.words { text-align: left; white-space: normal; }
svg text { fill: var(--ink); font-family: inherit; } .tick { font-size: 11px; } .label { font-size: 13px; font-weight: 600; }
.grid { stroke: var(--line); stroke-width: 1; } .bar { fill: var(--bar); }
.points { stroke: var(--point); stroke-width: 3.4; stroke-linecap: round; stroke-opacity: 0.5; fill: none; }
.front { stroke: var(--front); stroke-width: 1.6; fill: none; }
.mark { fill: var(--front); stroke: var(--paper); stroke-width: 1; }
)css";

std::string count_text(std::uint64_t count) { return grouped(static_cast<std::int64_t>(count)); }

ChartAxis axis_of(const std::string& objective, double least) {
  ChartAxis axis{.label = objective, .text = [objective](double value) { return objective_text(objective, value); }};
  if (objective.starts_with("memory")) {
    while (axis.unit * 1024 <= least) axis.unit *= 1024;
  }
  return axis;
}

std::string words_of(const DesignResult& result, const std::vector<std::string>& objectives) {
  std::string words = fmt::format("design {}", result.design);
  for (const auto& [name, value] : result.parameters) words += fmt::format("\n{}: {}", name, value);
  for (std::size_t i = 0; i < result.objectives.size(); ++i)
    words += fmt::format("\n{}: {}", objectives[i], objective_text(objectives[i], result.objectives[i]));
  return words;
}

class Page {
 public:
  Page(const Exploration& exploration, const std::vector<Outcome>& outcomes, const Space& space, Objectives objectives)
      : exploration_(exploration), outcomes_(outcomes), space_(space), objectives_(std::move(objectives)) {}

  std::string text() {
    add_head();
    add_fronts();
    add_front_table();
    add_sensitivities();
    add_workloads();
    add_failures();
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, "
        "initial-scale=1\"><title>{}</title><style>{}</style></head><body>\n{}</body></html>\n",
        html_escaped(exploration_.space), style, body_);
  }

 private:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Arguments>(arguments)...);
  }

  void tile(const std::string& number, const std::string& meaning) {
    add("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", html_escaped(number), html_escaped(meaning));
  }

  void add_head() {
    add("<h1>{}</h1>\n<p>{}</p>\n<div class=\"tiles\">\n", html_escaped(exploration_.space),
        html_escaped(exploration_.description));
    tile(count_text(exploration_.seen), fmt::format("of {} designs seen", count_text(exploration_.space_size)));
    tile(count_text(exploration_.evaluated), "ran");
    tile(count_text(exploration_.failed), "cannot run");
    if (exploration_.excluded > 0) tile(count_text(exploration_.excluded), "excluded by constraints");
    tile(count_text(exploration_.front.size()), "on the front");
    if (std::isfinite(exploration_.hypervolume)) tile(fmt::format("{:.4f}", exploration_.hypervolume), "hypervolume");
    add("</div>\n");
  }

  std::vector<std::pair<double, double>> points_of(const explore::Objective& x, const explore::Objective& y) const {
    std::vector<std::pair<double, double>> points;
    for (const Outcome& outcome : outcomes_) {
      if (!outcome.ran()) continue;
      points.emplace_back(metric_of(outcome, space_, x.metric, x.workload),
                          metric_of(outcome, space_, y.metric, y.workload));
    }
    return points;
  }

  void add_front(std::size_t a, std::size_t b) {
    const bool alone = objectives_.size() == 1;  // then against area
    const explore::Objective other = alone ? explore::Objective{Metric::area} : objectives_[b];
    const std::string other_name = alone ? "area" : exploration_.objectives[b];
    ScatterChart chart{.points = points_of(objectives_[a], other)};
    if (chart.points.empty()) return;
    double least_x = chart.points[0].first, least_y = chart.points[0].second;
    for (const auto& [x, y] : chart.points) {
      least_x = std::min(least_x, x);
      least_y = std::min(least_y, y);
    }
    chart.x = axis_of(exploration_.objectives[a], least_x);
    chart.y = axis_of(other_name, least_y);
    for (const DesignResult& result : exploration_.front) {
      const auto area = std::ranges::find(result.metrics, "area_mm2", &std::pair<std::string, double>::first);
      chart.marks.push_back({result.objectives[a], alone ? area->second : result.objectives[b],
                             words_of(result, exploration_.objectives)});
    }
    chart.steps = objectives_.size() == 2 && std::ranges::none_of(objectives_, [](const explore::Objective& objective) {
                    return objective.metric == Metric::utilization;
                  });
    add("<div class=\"card\">{}</div>\n", draw(chart));
  }

  void add_fronts() {
    if (exploration_.evaluated == 0) return;
    add("<h2>All designs</h2>\n<p>Each dot is a design that ran; those marked are better than every other one in some "
        "way. Point at one to see what it is.</p>\n<div class=\"cards\">\n");
    constexpr std::size_t most = 3;  // pictures
    std::size_t drawn = 0;
    if (objectives_.size() == 1) add_front(0, 0);
    for (std::size_t a = 0; a < objectives_.size(); ++a) {
      for (std::size_t b = a + 1; b < objectives_.size() && drawn < most; ++b, ++drawn) add_front(a, b);
    }
    add("</div>\n");
  }

  void add_front_table() {
    constexpr std::size_t most = 1000;
    if (exploration_.front.empty()) return;
    add("<h2>The front in {}</h2>\n<div class=\"table\"><table><tr><th>design</th>",
        html_escaped(fmt::format("{}", fmt::join(exploration_.objectives, ", "))));
    for (const auto& parameter : exploration_.front[0].parameters) add("<th>{}</th>", html_escaped(parameter.first));
    for (const std::string& objective : exploration_.objectives) add("<th>{}</th>", html_escaped(objective));
    std::vector<std::pair<std::string, std::string>> others = {{"area", "area_mm2"}, {"memory", "peak_bytes"}};
    std::erase_if(others, [&](const auto& other) {
      return std::ranges::find(exploration_.objectives, other.first) != exploration_.objectives.end();
    });
    for (const auto& other : others) add("<th>{}</th>", other.first);
    add("</tr>\n");
    for (std::size_t i = 0; i < std::min(most, exploration_.front.size()); ++i) {
      const DesignResult& result = exploration_.front[i];
      add("<tr><td>{}</td>", result.design);
      for (const auto& parameter : result.parameters) add("<td>{}</td>", html_escaped(parameter.second));
      for (std::size_t k = 0; k < result.objectives.size(); ++k)
        add("<td>{}</td>", objective_text(exploration_.objectives[k], result.objectives[k]));
      for (const auto& [metric, field] : others) {
        const auto found = std::ranges::find(result.metrics, field, &std::pair<std::string, double>::first);
        add("<td>{}</td>", objective_text(metric, found->second));
      }
      add("</tr>\n");
    }
    add("</table></div>\n");
    if (exploration_.front.size() > most) add("<p>and {} more</p>\n", exploration_.front.size() - most);
  }

  void add_sensitivities() {
    if (exploration_.evaluated < 2) return;
    for (const std::string& objective : exploration_.objectives) {
      std::vector<const Sensitivity*> rows;
      for (const Sensitivity& sensitivity : exploration_.sensitivities) {
        if (sensitivity.objective == objective) rows.push_back(&sensitivity);
      }
      std::ranges::stable_sort(rows, std::greater(), [](const Sensitivity* row) { return row->share; });
      add("<h2>What matters for {}</h2>\n<p>How much of the variance of its logarithm each parameter explains alone; "
          "then its geometric mean by value, and how many designs with that value are on the front.</p>\n",
          html_escaped(objective));
      std::vector<ChartBar> shares;
      for (const Sensitivity* row : rows)
        shares.push_back({row->parameter, row->share, fmt::format("{:.1f} %", 100 * row->share)});
      add("<div class=\"card\" style=\"margin-bottom: 16px\">{}</div>\n<div class=\"cards small\">\n",
          draw(shares, 0, 720));
      for (const Sensitivity* row : rows) add_values(*row);
      add("</div>\n");
    }
  }

  void add_values(const Sensitivity& sensitivity) {
    constexpr std::size_t most = 40;
    std::vector<ChartBar> bars;
    for (const SensitivityRow& row : sensitivity.values) {
      if (bars.size() == most) break;
      if (row.designs == 0) continue;
      bars.push_back({row.value, row.mean,
                      objective_text(sensitivity.objective, row.mean) +
                          (row.on_front > 0 ? fmt::format(", {} on front", row.on_front) : "")});
    }
    add("<div class=\"card\"><h3>{}</h3>{}</div>\n", html_escaped(sensitivity.parameter), draw(bars, 0, 310));
  }

  // Places in the order of designs by `values`, from 0 to 1.
  static std::vector<double> places_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<double> places(values.size());
    for (std::size_t i = 0; i < order.size(); ++i) places[order[i]] = static_cast<double>(i + 1);
    return places;
  }

  void add_workloads() {
    if (exploration_.correlations.empty() || exploration_.evaluated < 2) return;
    constexpr std::size_t most = 6;  // pictures
    add("<h2>Do workloads agree?</h2>\n<p>Designs by rank: a line from corner to corner means that what is good for "
        "one "
        "is good for the other. Spearman's correlation is 1 then, and 0 where they have nothing to do with each "
        "other.</p>\n<div class=\"cards\">\n");
    std::size_t drawn = 0;
    for (const RankCorrelation& one : exploration_.correlations) {
      if (drawn++ == most) break;
      const Metric metric = one.metric == "latency" ? Metric::latency : Metric::energy;
      const auto places = [&](const std::string& workload) {
        const auto found = std::ranges::find(space_.workloads, workload, &explore::Workload::name);
        const auto index = static_cast<int>(found - space_.workloads.begin());
        std::vector<double> values;
        for (const Outcome& outcome : outcomes_) {
          if (outcome.ran()) values.push_back(metric_of(outcome, space_, metric, index));
        }
        return places_of(values);
      };
      const auto number = [](double value) { return fmt::format("{:.0f}", value); };
      ScatterChart chart{.x = {.label = "rank for " + one.a, .text = number, .logarithm = false},
                         .y = {.label = "rank for " + one.b, .text = number, .logarithm = false}};
      const std::vector<double> a = places(one.a), b = places(one.b);
      for (std::size_t i = 0; i < a.size(); ++i) chart.points.emplace_back(a[i], b[i]);
      add("<div class=\"card\"><h3>{} of {} and {}: {}</h3>{}</div>\n", one.metric, html_escaped(one.a),
          html_escaped(one.b), std::isfinite(one.spearman) ? fmt::format("{:+.3f}", one.spearman) : "no correlation",
          draw(chart));
    }
    add("</div>\n");
  }

  void add_failures() {
    constexpr std::size_t most = 100;
    if (exploration_.failures.empty()) return;
    add("<h2>Designs that cannot run, or are excluded</h2>\n<div class=\"table\"><table><tr><th>designs</th><th "
        "class=\"words\">because</th></tr>\n");
    for (std::size_t i = 0; i < std::min(most, exploration_.failures.size()); ++i) {
      add("<tr><td>{}</td><td class=\"words\">{}</td></tr>\n", count_text(exploration_.failures[i].second),
          html_escaped(exploration_.failures[i].first));
    }
    add("</table></div>\n");
  }

  const Exploration& exploration_;
  const std::vector<Outcome>& outcomes_;
  const Space& space_;
  Objectives objectives_;
  std::string body_;
};

}  // namespace

Expected<std::string> exploration_page(const std::string& path, const ShowOptions& options) {
  MONET_TRY(explore::Store store, explore::Store::open_to_read(path));
  MONET_TRY(const Objectives objectives, objectives_named(store.space(), options.objectives));
  MONET_TRY(const std::vector<Outcome> outcomes, outcomes_of(store));
  Exploration exploration{.store = path};
  analyse(outcomes, store.space(), objectives, exploration);
  return Page(exploration, outcomes, store.space(), objectives).text();
}

}  // namespace monet
