#include <monet/explore.h>

#include "explore/store/parameters_json.h"
#include "present/json/json.h"
#include "present/shared/numbers.h"

namespace monet {

namespace {

Json json_of(const WorkloadMetrics& workload) {
  Json json = {{"workload", workload.workload}};
  if (!workload.failure.empty()) {
    json["failure"] = workload.failure;
    return json;
  }
  json["latency_cycles"] = workload.latency_cycles;
  json["latency_s"] = workload.latency_s;
  json["energy_pj"] = workload.energy_pj;
  json["edp"] = workload.edp;
  json["peak_bytes"] = workload.peak_bytes;
  json["utilization"] = workload.utilization;
  json["cost"] = workload.cost;
  json["stacks"] = workload.stacks;
  json["tiles"] = workload.tiles;
  json["recomputed"] = workload.recomputed;
  json["paged"] = workload.paged;
  json["recipe"] = workload.recipe;
  return json;
}

Json json_of(const DesignResult& result, const std::vector<std::string>& objectives) {
  Json json = {{"index", result.design}, {"design", Json::parse(explore::parameters_json(result.parameters))}};
  json["metrics"] = Json::object();
  for (const auto& [name, value] : result.metrics) json["metrics"][name] = value;
  json["objectives"] = Json::object();
  for (std::size_t i = 0; i < result.objectives.size(); ++i) json["objectives"][objectives[i]] = result.objectives[i];
  json["workloads"] = Json::array();
  for (const WorkloadMetrics& workload : result.workloads) json["workloads"].push_back(json_of(workload));
  json["like"] = result.like;
  return json;
}

Json json_of(const Sensitivity& sensitivity) {
  Json values = Json::array();
  for (const SensitivityRow& row : sensitivity.values) {
    Json value = {{"value", row.value}, {"designs", row.designs}, {"on_front", row.on_front}};
    value["mean"] = row.designs > 0 ? Json(row.mean) : Json(nullptr);
    value["best"] = row.designs > 0 ? Json(row.best) : Json(nullptr);
    values.push_back(std::move(value));
  }
  return {{"objective", sensitivity.objective}, {"parameter", sensitivity.parameter},
          {"share", sensitivity.share},         {"share_likely", sensitivity.share_likely},
          {"share_low", sensitivity.share_low}, {"share_high", sensitivity.share_high},
          {"values", std::move(values)}};
}

}  // namespace

std::string to_json(const std::vector<SpaceInfo>& spaces) {
  Json json = {{"schema", 1}, {"command", "explore"}, {"spaces", Json::array()}};
  for (const SpaceInfo& space : spaces)
    json["spaces"].push_back({{"name", space.name}, {"description", space.description}, {"size", space.size}});
  return text_of(json);
}

Json json_of(const Exploration& exploration) {
  Json json = {{"schema", 1}, {"command", "explore"}};
  json["space"] = exploration.space;
  json["description"] = exploration.description;
  json["store"] = exploration.store;
  json["method"] = exploration.method;
  json["parameters"] = exploration.parameters;
  json["workloads"] = exploration.workloads;
  json["objectives"] = exploration.objectives;
  json["space_size"] = exploration.space_size;
  json["seen"] = exploration.seen;
  json["evaluated"] = exploration.evaluated;
  json["failed"] = exploration.failed;
  json["excluded"] = exploration.excluded;
  json["fresh"] = exploration.fresh;
  json["complete"] = exploration.complete;
  json["front"] = Json::array();
  for (const DesignResult& result : exploration.front) json["front"].push_back(json_of(result, exploration.objectives));
  json["tolerance"] = exploration.tolerance;
  json["recommended"] = nullptr;
  if (!exploration.recommended_why.empty()) {
    json["recommended"] = {{"index", exploration.front[exploration.recommended].design},
                           {"knee", exploration.has_knee},
                           {"why", exploration.recommended_why}};
  }
  json["recipes"] = Json::array();
  for (const auto& [recipe, designs] : exploration.recipes)
    json["recipes"].push_back({{"recipe", recipe}, {"text", numbers_text(recipe, "")}, {"designs", designs}});
  json["failures"] = Json::array();
  for (const auto& [reason, designs] : exploration.failures)
    json["failures"].push_back({{"reason", reason}, {"designs", designs}});
  json["sensitivities"] = Json::array();
  for (const Sensitivity& sensitivity : exploration.sensitivities)
    json["sensitivities"].push_back(json_of(sensitivity));
  json["correlations"] = Json::array();
  for (const RankCorrelation& one : exploration.correlations) {
    json["correlations"].push_back(
        {{"a", one.a}, {"b", one.b}, {"metric", one.metric}, {"spearman", one.spearman}, {"designs", one.designs}});
  }
  json["hypervolume"] = exploration.hypervolume;
  if (exploration.wall_s >= 0) {
    json["wall_s"] = exploration.wall_s;
    json["designs_per_s"] = exploration.designs_per_s;
  }
  json["warnings"] = exploration.warnings;
  json["notes"] = exploration.notes;
  return json;
}

std::string to_json(const Exploration& exploration) { return text_of(json_of(exploration)); }

}  // namespace monet
