#include "explore/price/outcome.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet::explore {

namespace {

double cost_of(const Outcome& outcome, const WorkloadOutcome& workload, const Prices& prices) {
  constexpr double pj_per_kwh = 3.6e18;
  double cost = workload.energy_pj / pj_per_kwh * prices.per_kwh;
  if (prices.lifetime_s > 0) {
    cost += workload.latency_s * (prices.per_machine + prices.per_mm2 * outcome.area_mm2) / prices.lifetime_s;
  }
  return cost;
}

double metric_of_one(const Outcome& outcome, const WorkloadOutcome& workload, const Prices& prices, Metric metric) {
  switch (metric) {
    case Metric::latency: return workload.latency_s;
    case Metric::energy: return workload.energy_pj;
    case Metric::edp: return workload.latency_s * workload.energy_pj;
    case Metric::area: return outcome.area_mm2;
    case Metric::memory: return static_cast<double>(workload.peak_bytes);
    case Metric::cost: return cost_of(outcome, workload, prices);
    case Metric::utilization: return workload.utilization;
  }
  return 0;
}

double utilization_of_all(const Outcome& outcome, const Space& space) {
  double macs = 0, possible = 0;
  for (std::size_t w = 0; w < outcome.workloads.size(); ++w) {
    macs += space.workloads[w].weight * outcome.workloads[w].macs;
    possible += space.workloads[w].weight * outcome.workloads[w].latency_cycles * outcome.macs_per_cycle;
  }
  return possible > 0 ? macs / possible : 0;
}

}  // namespace

bool Outcome::ran() const {
  return failure.empty() &&
         std::ranges::all_of(workloads, [](const WorkloadOutcome& workload) { return workload.failure.empty(); });
}

double metric_of(const Outcome& outcome, const Space& space, Metric metric, int workload) {
  if (workload >= 0) {
    return metric_of_one(outcome, outcome.workloads[static_cast<std::size_t>(workload)], space.prices, metric);
  }
  if (metric == Metric::area) return outcome.area_mm2;
  if (metric == Metric::utilization) return utilization_of_all(outcome, space);
  double all = 0;
  for (std::size_t w = 0; w < outcome.workloads.size(); ++w) {
    const double one = metric_of_one(outcome, outcome.workloads[w], space.prices, metric);
    all = metric == Metric::memory ? std::max(all, one) : all + space.workloads[w].weight * one;
  }
  return all;
}

double amount_of(const Outcome& outcome, const Space& space, const Objective& objective) {
  if (objective.function) return objective.function(outcome, space);
  return metric_of(outcome, space, objective.metric, objective.workload);
}

double value_of(const Outcome& outcome, const Space& space, const Objective& objective) {
  const double amount = amount_of(outcome, space, objective);
  return !objective.function && objective.metric == Metric::utilization ? -amount : amount;
}

std::vector<double> values_of(const Outcome& outcome, const Space& space, const std::vector<Objective>& objectives) {
  std::vector<double> values;
  values.reserve(objectives.size());
  for (const Objective& objective : objectives) {
    values.push_back(value_of(outcome, space, objective));
    if (objective.function && !std::isfinite(values.back())) return {};
  }
  return values;
}

// A number that JSON does not have cannot come from an evaluation that ran.
std::string to_line(const Outcome& outcome) {
  nlohmann::json workloads = nlohmann::json::array();
  for (const WorkloadOutcome& one : outcome.workloads) {
    if (!one.failure.empty()) {
      workloads.push_back({{"failure", one.failure}});
      continue;
    }
    nlohmann::json& workload = workloads.emplace_back();
    for_each_number(one, [&](const char* name, auto value) { workload[name] = value; });
    workload["recipe"] = one.recipe;
  }
  const nlohmann::json line = {{"design", outcome.design},
                               {"failure", outcome.failure},
                               {"excluded", outcome.excluded},
                               {"hardware_hash", outcome.hardware_hash},
                               {"area_mm2", outcome.area_mm2},
                               {"static_w", outcome.static_w},
                               {"macs_per_cycle", outcome.macs_per_cycle},
                               {"on_chip_bits", outcome.on_chip_bits},
                               {"workloads", std::move(workloads)}};
  return line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

Expected<Outcome> outcome_from(const std::string& line) {
  try {
    const nlohmann::json all = nlohmann::json::parse(line);
    Outcome outcome;
    outcome.design = all.at("design").get<Design>();
    outcome.failure = all.at("failure").get<std::string>();
    outcome.excluded = all.at("excluded").get<bool>();
    outcome.hardware_hash = all.at("hardware_hash").get<std::string>();
    outcome.area_mm2 = all.at("area_mm2").get<double>();
    outcome.static_w = all.at("static_w").get<double>();
    outcome.macs_per_cycle = all.at("macs_per_cycle").get<double>();
    outcome.on_chip_bits = all.at("on_chip_bits").get<std::int64_t>();
    for (const nlohmann::json& one : all.at("workloads")) {
      WorkloadOutcome workload;
      if (one.contains("failure")) {
        workload.failure = one.at("failure").get<std::string>();
      } else {
        for_each_number(workload, [&](const char* name, auto& value) { one.at(name).get_to(value); });
        workload.recipe = one.at("recipe").get<std::string>();
      }
      outcome.workloads.push_back(std::move(workload));
    }
    return outcome;
  } catch (const nlohmann::json::exception& error) {
    return Error{.message = fmt::format("not the outcome of a design: {}", error.what())};
  }
}

}  // namespace monet::explore
