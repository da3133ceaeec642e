#include "explore/summary.h"

#include "base/quantities.h"
#include "base/try.h"
#include "explore/analysis/analysis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

namespace monet {

using explore::Metric;
using Objectives = std::vector<explore::Objective>;
using explore::Outcome;
using explore::Space;

namespace {

constexpr std::array<std::pair<const char*, Metric>, explore::metric_count> metric_fields = {
    {{"latency_s", Metric::latency},
     {"energy_pj", Metric::energy},
     {"edp", Metric::edp},
     {"area_mm2", Metric::area},
     {"peak_bytes", Metric::memory},
     {"cost", Metric::cost},
     {"utilization", Metric::utilization}}};

// "dram is too small by … MiB": numbers alone are not another reason; those in names stay.
std::string reason_without_numbers(const std::string& text) {
  std::string result;
  bool in_number = false, in_word = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    in_number = (digit && !in_word) || (in_number && (c == '.' || c == ','));
    if (in_number) {
      if (!result.ends_with("…")) result += "…";
      continue;
    }
    in_word = digit || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    result += c;
  }
  return result;
}

void count_failures(const std::vector<Outcome>& outcomes, const Space& space, Exploration& exploration) {
  struct Group {
    std::string text;
    std::uint64_t designs = 0;
    bool equal = true;
  };
  std::map<std::string, Group> groups;
  for (const Outcome& outcome : outcomes) {
    const std::string reason = reason_of(outcome, space);
    if (reason.empty()) continue;
    Group& group = groups[reason_without_numbers(reason)];
    if (group.designs++ == 0) group.text = reason;
    group.equal &= group.text == reason;
  }
  for (const auto& [key, group] : groups)
    exploration.failures.emplace_back(group.equal ? group.text : key, group.designs);
  std::ranges::stable_sort(exploration.failures, std::greater(), &std::pair<std::string, std::uint64_t>::second);
}

void count_recipes(const std::vector<Outcome>& outcomes, Exploration& exploration) {
  std::map<std::string, std::uint64_t> designs;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.ran()) continue;
    std::set<std::string> recipes;
    for (const explore::WorkloadOutcome& workload : outcome.workloads) recipes.insert(workload.recipe);
    for (const std::string& recipe : recipes) ++designs[recipe];
  }
  exploration.recipes.assign(designs.begin(), designs.end());
  std::ranges::stable_sort(exploration.recipes, std::greater(), &std::pair<std::string, std::uint64_t>::second);
}

void add_sensitivities(const std::vector<Outcome>& outcomes, const Space& space, const Objectives& objectives,
                       Exploration& exploration) {
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    for (const explore::AxisEffect& effect : explore::sensitivities(outcomes, space, objectives[i], objectives)) {
      Sensitivity row{.parameter = effect.axis,
                      .objective = exploration.objectives[i],
                      .share = effect.share,
                      .share_low = effect.low,
                      .share_high = effect.high,
                      .share_likely = effect.likely};
      for (const auto& value : effect.values)
        row.values.push_back({value.text, value.designs, value.on_front, value.mean, value.best});
      exploration.sensitivities.push_back(std::move(row));
    }
  }
}

void add_correlations(const std::vector<Outcome>& outcomes, const Space& space, Exploration& exploration) {
  const auto count = static_cast<int>(space.workloads.size());
  for (const Metric metric : {Metric::latency, Metric::energy}) {
    std::vector<std::vector<double>> values(space.workloads.size());
    for (const Outcome& outcome : outcomes) {
      for (int w = 0; w < count && outcome.ran(); ++w)
        values[static_cast<std::size_t>(w)].push_back(metric_of(outcome, space, metric, w));
    }
    for (std::size_t a = 0; a < values.size(); ++a) {
      for (std::size_t b = a + 1; b < values.size(); ++b)
        exploration.correlations.push_back({space.workloads[a].name, space.workloads[b].name,
                                            std::string(name_of(metric)),
                                            explore::rank_correlation(values[a], values[b]), values[a].size()});
    }
  }
}

void measure_front(const std::vector<Outcome>& outcomes, const std::vector<Outcome>& front, const Space& space,
                   const Objectives& objectives, Exploration& exploration) {
  constexpr double most_work = 2e8;  // comparisons, about
  if (objectives.size() > 3 &&
      std::pow(static_cast<double>(front.size()), static_cast<double>(objectives.size() - 1)) > most_work) {
    exploration.hypervolume = std::numeric_limits<double>::quiet_NaN();
    exploration.notes.push_back(fmt::format("the volume of a front of {} designs in {} objectives is not worked out",
                                            front.size(), objectives.size()));
    return;
  }
  std::vector<double> ideal(objectives.size(), std::numeric_limits<double>::infinity()), worst(objectives.size());
  for (double& value : worst) value = -std::numeric_limits<double>::infinity();
  for (const Outcome& outcome : outcomes) {
    if (!outcome.ran()) continue;
    const std::vector<double> values = values_of(outcome, space, objectives);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ideal[i] = std::min(ideal[i], values[i]);
      worst[i] = std::max(worst[i], values[i]);
    }
  }
  std::vector<std::vector<double>> points;
  for (const Outcome& outcome : front) points.push_back(values_of(outcome, space, objectives));
  exploration.hypervolume = explore::hypervolume(std::move(points), ideal, worst);
}

// "1.07x the least latency", "the least latency".
std::string against(double value, double best, const std::string& objective) {
  const bool less = value < best;
  const double times = less ? best / value : value / best;
  const std::string name = objective.substr(0, objective.find('@'));
  const char* extreme = less ? "the most" : "the least";
  if (times < 1.005) return fmt::format("{} {}", extreme, name);
  return less ? fmt::format("the most {} is {:.3g}x", name, times) : fmt::format("{:.3g}x {} {}", times, extreme, name);
}

// The knee, or of fewer than three the best in the first objective.
void recommend(const std::vector<std::vector<double>>& values, Exploration& exploration) {
  if (exploration.front.empty()) return;
  const std::optional<std::size_t> knee = explore::knee_of(values);
  exploration.has_knee = knee.has_value();
  exploration.recommended = knee.value_or(0);
  if (!knee) {
    exploration.recommended_why =
        exploration.front.size() == 1
            ? "no other design is better in any objective"
            : fmt::format("the best in {}: too few are left for a knee", exploration.objectives.front());
    return;
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < exploration.objectives.size(); ++i) {
    const auto best = std::ranges::min_element(values, {}, [i](const std::vector<double>& v) { return v[i]; });
    parts.push_back(against(exploration.front[*knee].objectives[i],
                            exploration.front[static_cast<std::size_t>(best - values.begin())].objectives[i],
                            exploration.objectives[i]));
  }
  exploration.recommended_why =
      fmt::format("the knee of the front, nearest to the best in all: {}", fmt::join(parts, ", "));
}

// What hardly differs is one of the front.
void add_front(const std::vector<Outcome>& front, const Space& space, const Objectives& objectives,
               Exploration& exploration) {
  std::vector<std::vector<double>> values, kept;
  for (const Outcome& outcome : front) values.push_back(values_of(outcome, space, objectives));
  for (const explore::FrontGroup& group : explore::merged_front(values, exploration.tolerance)) {
    exploration.front.push_back(result_of(front[group.kept], space, objectives));
    for (const std::size_t i : group.like) exploration.front.back().like.push_back(front[i].design);
    kept.push_back(values[group.kept]);
  }
  recommend(kept, exploration);
}

// Asked once for each design.
explore::Objective own_objective(const std::string& name, const DesignObjective& function) {
  explore::Objective objective{.function_name = name};
  const auto known = std::make_shared<std::unordered_map<explore::Design, double>>();
  objective.function = [function, known](const Outcome& outcome, const Space& space) {
    const auto [entry, added] = known->try_emplace(outcome.design, 0);
    if (added) {
      const double value = function(result_of(outcome, space, {}));
      entry->second = std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
    }
    return entry->second;
  };
  return objective;
}

std::string front_energy(double pj) {
  constexpr std::array<std::pair<double, const char*>, 5> units = {
      {{1e12, "J"}, {1e9, "mJ"}, {1e6, "uJ"}, {1e3, "nJ"}, {1, "pJ"}}};
  for (const auto& [scale, unit] : units) {
    if (pj >= scale) return fmt::format("{:.4g} {}", pj / scale, unit);
  }
  return fmt::format("{:.4g} pJ", pj);
}

}  // namespace

Expected<Objectives> objectives_named(const Space& space, const std::vector<std::string>& names,
                                      const DesignObjectives& functions) {
  if (names.empty()) return space.objectives;
  Objectives objectives;
  for (auto at = names.begin(); at != names.end(); ++at) {
    const std::string& name = *at;
    if (std::find(names.begin(), at, name) != at)
      return Error{.message = fmt::format("'{}' is named twice", name),
                   .place = "--objectives",
                   .advice = "name each objective once"};
    const auto own = std::ranges::find(functions, name, &DesignObjectives::value_type::first);
    if (own != functions.end()) {
      objectives.push_back(own_objective(name, own->second));
      continue;
    }
    MONET_TRY(const explore::Objective objective, space.objective_named(name));
    objectives.push_back(objective);
  }
  return objectives;
}

Expected<std::vector<Outcome>> outcomes_of(explore::Store& store) {
  std::vector<Outcome> outcomes;
  MONET_RETURN_IF_ERROR(store.for_each([&](const Outcome& outcome) -> Status {
    outcomes.push_back(outcome);
    return Done{};
  }));
  return outcomes;
}

Status analyse(explore::Store& store, const Objectives& objectives, double tolerance, Exploration& exploration) {
  MONET_TRY(const std::vector<Outcome> outcomes, outcomes_of(store));
  analyse(outcomes, store.space(), objectives, tolerance, exploration);
  return Done{};
}

void analyse(const std::vector<Outcome>& outcomes, const Space& space, const Objectives& objectives, double tolerance,
             Exploration& exploration) {
  exploration.space = space.name;
  exploration.description = space.description;
  exploration.space_size = space.size();
  for (const explore::Axis& axis : space.axes) exploration.parameters.push_back(axis.name);
  for (const explore::Workload& workload : space.workloads) exploration.workloads.push_back(workload.name);
  for (const explore::Objective& objective : objectives)
    exploration.objectives.push_back(name_of(objective, space.workloads));
  exploration.seen = outcomes.size();
  for (const Outcome& outcome : outcomes) {
    ++(outcome.excluded ? exploration.excluded : outcome.ran() ? exploration.evaluated : exploration.failed);
  }
  const std::vector<Outcome> front = front_of(outcomes, space, objectives);
  exploration.tolerance = tolerance;
  add_front(front, space, objectives, exploration);
  count_recipes(outcomes, exploration);
  count_failures(outcomes, space, exploration);
  add_sensitivities(outcomes, space, objectives, exploration);
  add_correlations(outcomes, space, exploration);
  measure_front(outcomes, front, space, objectives, exploration);
}

std::string reason_of(const Outcome& outcome, const Space& space) {
  if (!outcome.failure.empty()) return outcome.failure;
  for (std::size_t i = 0; i < outcome.workloads.size(); ++i) {
    const std::string& failure = outcome.workloads[i].failure;
    if (!failure.empty()) return fmt::format("{}: {}", space.workloads[i].name, failure);
  }
  return {};
}

DesignResult result_of(const Outcome& outcome, const Space& space, const Objectives& objectives) {
  DesignResult result{.design = outcome.design, .parameters = space.chosen(outcome.design)};
  result.failure = reason_of(outcome, space);
  if (outcome.ran()) {
    for (const auto& [name, metric] : metric_fields)
      result.metrics.emplace_back(name, metric_of(outcome, space, metric, -1));
    for (const explore::Objective& objective : objectives)
      result.objectives.push_back(amount_of(outcome, space, objective));
  }
  for (std::size_t i = 0; i < outcome.workloads.size(); ++i) {
    const explore::WorkloadOutcome& from = outcome.workloads[i];
    WorkloadMetrics to{.workload = space.workloads[i].name, .failure = from.failure};
    const auto of = [&](Metric metric) { return metric_of(outcome, space, metric, static_cast<int>(i)); };
    if (from.failure.empty()) {
      to.latency_cycles = from.latency_cycles;
      to.latency_s = from.latency_s;
      to.energy_pj = from.energy_pj;
      to.edp = of(Metric::edp);
      to.peak_bytes = from.peak_bytes;
      to.utilization = from.utilization;
      to.cost = of(Metric::cost);
      to.stacks = from.stacks;
      to.tiles = from.tiles;
      to.recomputed = from.recomputed;
      to.paged = from.paged;
      to.recipe = from.recipe;
    }
    result.workloads.push_back(std::move(to));
  }
  return result;
}

std::string objective_text(const std::string& objective, double value) {
  const std::string metric = objective.substr(0, objective.find('@'));
  if (metric == "latency") return seconds_text(value);
  if (metric == "energy") return front_energy(value);
  if (metric == "edp") return fmt::format("{:.4g} J s", value * 1e-12);
  if (metric == "area") return fmt::format("{:.4g} mm²", value);
  if (metric == "memory") return byte_size(std::llround(value));
  if (metric == "utilization") return fmt::format("{:.1f} %", 100 * value);
  return fmt::format("{:.4g}", value);
}

}  // namespace monet
