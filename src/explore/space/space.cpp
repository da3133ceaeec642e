#include "explore/space/space.h"

#include "base/require.h"
#include "config/check_keys.h"
#include "config/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace monet::explore {

namespace {

constexpr std::array<std::string_view, metric_count> metric_names = {"latency", "energy", "edp",        "area",
                                                                     "memory",  "cost",   "utilization"};

}  // namespace

std::string_view name_of(Metric metric) { return metric_names[static_cast<std::size_t>(metric)]; }

std::string name_of(const Objective& objective, const std::vector<Workload>& workloads) {
  if (objective.function) return objective.function_name;
  std::string metric(name_of(objective.metric));
  if (objective.workload < 0) return metric;
  return fmt::format("{}@{}", metric, workloads[static_cast<std::size_t>(objective.workload)].name);
}

std::uint64_t Space::size() const {
  std::uint64_t designs = 1;
  for (const Axis& axis : axes) designs *= axis.texts.size();
  return designs;
}

Choice Space::choice(Design design) const {
  MONET_REQUIRE(design < size());
  Choice result(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    result[a] = static_cast<std::uint16_t>(design % axes[a].texts.size());
    design /= axes[a].texts.size();
  }
  return result;
}

Design Space::design(const Choice& choice) const {
  MONET_REQUIRE(choice.size() == axes.size());
  Design result = 0;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    MONET_REQUIRE(choice[a] < axes[a].texts.size());
    result = result * axes[a].texts.size() + choice[a];
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> Space::parameters(Design design) const {
  std::vector<std::pair<std::string, std::string>> result = chosen(design);
  for (const Derived& each : derived) result.emplace_back(each.name, each.text);
  return result;
}

std::vector<std::pair<std::string, std::string>> Space::chosen(Design design) const {
  const Choice places = choice(design);
  std::vector<std::pair<std::string, std::string>> result;
  for (std::size_t a = 0; a < axes.size(); ++a) result.emplace_back(axes[a].name, axes[a].texts[places[a]]);
  return result;
}

Expected<Objective> Space::objective_named(const std::string& wanted) const {
  const std::size_t at = wanted.find('@');
  const std::string metric = wanted.substr(0, at);
  const auto found = std::ranges::find(metric_names, metric);
  if (found == metric_names.end()) {
    return Error{.message = fmt::format("there is no objective '{}'", shown(metric)),
                 .advice = meant_name(metric, {metric_names.begin(), metric_names.end()})};
  }
  Objective objective{.metric = static_cast<Metric>(found - metric_names.begin())};
  if (objective.metric == Metric::cost && prices.per_kwh == 0 && prices.lifetime_s == 0) {
    return Error{.message = "a cost without prices",
                 .advice = "state them in the space: prices: {per_kwh: 0.2, per_mm2: 1, lifetime_years: 5}"};
  }
  if (at == std::string::npos) return objective;
  if (objective.metric == Metric::area) {
    return Error{.message = "the area is that of the machine, whatever runs on it", .advice = "write area"};
  }
  const std::string workload = wanted.substr(at + 1);
  const auto which = std::ranges::find(workloads, workload, &Workload::name);
  if (which == workloads.end()) {
    std::vector<std::string> names;
    for (const Workload& each : workloads) names.push_back(each.name);
    return Error{.message = fmt::format("there is no workload '{}'", shown(workload)),
                 .advice = meant_name(workload, names)};
  }
  objective.workload = static_cast<int>(which - workloads.begin());
  return objective;
}

}  // namespace monet::explore
