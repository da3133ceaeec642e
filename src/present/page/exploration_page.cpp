#include "present/page/exploration_page.h"

#include "base/try.h"
#include "explore/store/store.h"
#include "explore/summary.h"
#include "present/page/details_text.h"

#include <monet/explore.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <unordered_set>

namespace monet {

using explore::Metric;
using explore::Outcome;
using explore::Space;
using Objectives = std::vector<explore::Objective>;

namespace {

// A column of the designs' numbers, named as the store's CSV file names it.
struct Column {
  std::string name, unit;
  int workload = -1;
  std::function<double(const Outcome&)> value;
};

struct MetricColumn {
  Metric metric;
  const char* name;
  const char* unit;
};
constexpr std::array<MetricColumn, explore::metric_count> metric_columns = {{{Metric::latency, "latency_s", "s"},
                                                                             {Metric::energy, "energy_pj", "pJ"},
                                                                             {Metric::edp, "edp", ""},
                                                                             {Metric::area, "area_mm2", "mm2"},
                                                                             {Metric::memory, "peak_bytes", "bytes"},
                                                                             {Metric::cost, "cost", ""},
                                                                             {Metric::utilization, "utilization", ""}}};

Column column_of(const MetricColumn& from, int workload, const Space& space) {
  return {from.name, from.unit, workload, [&space, metric = from.metric, workload](const Outcome& outcome) {
            return metric_of(outcome, space, metric, workload);
          }};
}

// Of a workload, what follows from the rest only where it is an objective.
std::vector<Column> columns_of(const Space& space, const Objectives& objectives) {
  std::vector<Column> columns;
  for (const MetricColumn& metric : metric_columns) columns.push_back(column_of(metric, -1, space));
  for (int w = 0; w < static_cast<int>(space.workloads.size()); ++w) {
    for (const MetricColumn& metric : metric_columns) {
      const bool wanted = std::ranges::any_of(objectives, [&](const explore::Objective& objective) {
        return objective.metric == metric.metric && objective.workload == w;
      });
      const bool follows =
          metric.metric == Metric::area || metric.metric == Metric::edp || metric.metric == Metric::cost;
      if (wanted || !follows) columns.push_back(column_of(metric, w, space));
    }
    const auto count = [&](const char* name, std::int64_t explore::WorkloadOutcome::* field) {
      columns.push_back({name, "", w, [w, field](const Outcome& outcome) {
                           return static_cast<double>(outcome.workloads[static_cast<std::size_t>(w)].*field);
                         }});
    };
    count("stacks", &explore::WorkloadOutcome::stacks);
    count("tiles", &explore::WorkloadOutcome::tiles);
    count("recomputed", &explore::WorkloadOutcome::recomputed);
    count("paged", &explore::WorkloadOutcome::paged);
  }
  return columns;
}

// Those that ran: all, or the front and every so many.
std::vector<const Outcome*> shown_of(const std::vector<Outcome>& outcomes, const Exploration& exploration,
                                     std::size_t most_designs) {
  std::unordered_set<explore::Design> front;
  for (const DesignResult& result : exploration.front) front.insert(result.design);
  const std::size_t step = (exploration.evaluated + most_designs - 1) / most_designs;
  std::vector<const Outcome*> shown;
  std::size_t number = 0;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.ran()) continue;
    if (number++ % std::max<std::size_t>(step, 1) == 0 || front.contains(outcome.design)) shown.push_back(&outcome);
  }
  return shown;
}

void write_designs(DetailsText& out, const std::vector<const Outcome*>& shown, const Space& space,
                   const std::vector<Column>& columns) {
  const auto column = [&](std::string_view key, const auto& value) {
    out.column(key, shown.size(), [&](std::size_t i) { return value(*shown[i]); });
  };
  out.open("designs", '{');
  column("id", [](const Outcome& outcome) { return static_cast<std::int64_t>(outcome.design); });
  std::vector<explore::Choice> choices;
  for (const Outcome* outcome : shown) choices.push_back(space.choice(outcome->design));
  out.open("parameters", '[');
  for (std::size_t axis = 0; axis < space.axes.size(); ++axis)
    out.column("", choices.size(), [&](std::size_t i) { return static_cast<std::int64_t>(choices[i][axis]); });
  out.close(']');
  out.open("metrics", '[');
  for (const Column& each : columns) column("", each.value);
  out.close(']');
  out.close('}');
}

Json objectives_json(const Objectives& objectives, const Space& space, const std::vector<Column>& columns) {
  Json list = Json::array();
  for (const explore::Objective& objective : objectives) {
    const auto named = std::ranges::find(metric_columns, objective.metric, &MetricColumn::metric);
    const auto column = std::ranges::find_if(
        columns, [&](const Column& each) { return each.name == named->name && each.workload == objective.workload; });
    list.push_back({{"name", name_of(objective, space.workloads)},
                    {"metric", column - columns.begin()},
                    {"better", objective.metric == Metric::utilization ? "more" : "less"}});
  }
  return list;
}

void add_space(Json& json, const Space& space, const Objectives& objectives, const std::vector<Column>& columns) {
  json["objectives"] = objectives_json(objectives, space, columns);
  json["parameters"] = Json::array();
  for (const explore::Axis& axis : space.axes)
    json["parameters"].push_back({{"name", axis.name}, {"values", axis.texts}});
  json["metrics"] = Json::array();
  for (const Column& column : columns) {
    const std::string workload =
        column.workload < 0 ? "" : space.workloads[static_cast<std::size_t>(column.workload)].name;
    json["metrics"].push_back({{"name", column.name}, {"unit", column.unit}, {"workload", workload}});
  }
  const DesignCommands commands = commands_of(space);
  json["commands"] = Json::array();
  for (const auto& [workload, command] : commands.commands)
    json["commands"].push_back({{"workload", workload}, {"command", command}});
  for (const std::string& note : commands.notes) json["notes"].push_back(note);
}

std::string exploration_json(const Exploration& exploration, const std::vector<Outcome>& outcomes, const Space& space,
                             const Objectives& objectives, std::size_t most_designs) {
  const std::vector<Column> columns = columns_of(space, objectives);
  const std::vector<const Outcome*> shown = shown_of(outcomes, exploration, most_designs);
  // What both have is as `monet explore --json` says it; the designs are in columns.
  Json json = json_of(exploration);
  add_space(json, space, objectives, columns);
  json["shown"] = shown.size();
  const auto place = [&](const DesignResult& result) {
    return std::ranges::lower_bound(shown, result.design, {}, &Outcome::design) - shown.begin();
  };
  json["front"] = Json::array();
  for (const DesignResult& result : exploration.front) json["front"].push_back(place(result));
  if (!exploration.recommended_why.empty())
    json["recommended"]["shown"] = place(exploration.front[exploration.recommended]);
  DetailsText out;
  out.open("", '{');
  for (const auto& [key, value] : json.items()) out.add_json(key, value);
  write_designs(out, shown, space, columns);
  out.close('}');
  return out.take();
}

}  // namespace

Expected<PageContent> content_of_store(const std::string& path, const std::vector<std::string>& objectives,
                                       double tolerance, std::size_t most_designs) {
  MONET_TRY(explore::Store store, explore::Store::open_to_read(path));
  MONET_TRY(const Objectives judged_by, objectives_named(store.space(), objectives));
  MONET_TRY(const std::vector<Outcome> outcomes, outcomes_of(store));
  Exploration exploration{.store = path};
  analyse(outcomes, store.space(), judged_by, tolerance, exploration);
  return PageContent{.title = exploration.space,
                     .exploration = exploration_json(exploration, outcomes, store.space(), judged_by, most_designs)};
}

Expected<std::string> exploration_page(const std::string& store, const ShowOptions& options) {
  MONET_TRY(const PageContent content, content_of_store(store, options.objectives, options.tolerance));
  return page_of(content);
}

}  // namespace monet
