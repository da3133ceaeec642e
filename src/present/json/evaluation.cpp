#include "evaluate/run/fields.h"
#include "present/json/json.h"
#include "present/shared/critical_runs.h"
#include "present/shared/diagnosis.h"
#include "present/shared/numbers.h"

#include <monet/evaluate.h>

namespace monet {

namespace {

// Equal names are added up, so that parts still make the whole.
template <class Number>
Json json_of(const std::vector<std::pair<std::string, Number>>& parts) {
  Json json = Json::object();
  for (const auto& [name, value] : parts) {
    json[name] = json.contains(name) ? json[name].template get<Number>() + value : value;
  }
  return json;
}

template <class Row>
Json row_json(const Row& row) {
  Json json;
  for_each_field(row, [&](const Field& field, const auto& value) {
    if (field.group != nullptr) {
      json[field.group][field.part] = value;
    } else {
      json[field.name] = value;
    }
  });
  return json;
}

Json json_of(const PhaseResult& phase) { return row_json(phase); }
Json json_of(const OperatorResult& result) { return row_json(result); }

Json json_of(const ResourceResult& resource) {
  Json json = row_json(resource);
  if (resource.kind == "core") {
    json["idle_by"] = json_of(resource.idle_by);
  } else {
    for_each_field(resource, [&](const Field& field, const auto&) {
      if (field.of_cores) json.erase(field.name);
    });
  }
  return json;
}

Json json_of(const LiveTensor& tensor) {
  return {{"name", tensor.name},
          {"role", tensor.role},
          {"bytes", tensor.bytes},
          {"start", tensor.start},
          {"end", tensor.end}};
}

Json json_of(const FitOption& option) {
  return {{"what", option.what},
          {"fits", option.fits},
          {"latency_cycles", option.latency_cycles},
          {"energy_pj", option.energy_pj},
          {"peak_bytes", option.peak_bytes},
          {"reason", option.reason}};
}

Json json_of(const CriticalRun& run) {
  return {{"name", run.name}, {"kind", run.kind}, {"start", run.start}, {"end", run.end}, {"steps", run.steps}};
}

Json json_of(const MemoryResult& memory);

template <class Rows>
Json list_of(const Rows& rows) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(json_of(row));
  return list;
}

Json json_of(const MemoryResult& memory) {
  // What moves inside a core is part of its tiles: it costs energy, and is not counted in bytes.
  const bool counted = memory.read_bytes + memory.written_bytes > 0;
  const auto moved = [&](double bytes) { return counted ? Json(bytes) : Json(nullptr); };
  return {{"name", memory.name},
          {"kind", memory.kind},
          {"capacity_bytes", memory.capacity_bytes},
          {"live_peak_bytes", memory.live_peak_bytes},
          {"packed_peak_bytes", memory.packed_peak_bytes},
          {"peak_at", memory.peak_at},
          {"peak_by_role", json_of(memory.peak_by_role)},
          {"alive_at_peak", list_of(memory.alive_at_peak)},
          {"read_bytes", moved(memory.read_bytes)},
          {"written_bytes", moved(memory.written_bytes)},
          {"energy_pj", memory.energy_pj},
          {"curve", {{"roles", memory.roles}, {"at", memory.curve_at}, {"bytes", memory.curve}}}};
}

void add_memory_peaks(Json& json, const Evaluation& evaluation) {
  Json packed = Json::object(), live = Json::object();
  for (const MemoryResult& memory : evaluation.memories) {
    live[memory.name] = memory.live_peak_bytes;
    if (memory.packed_peak_bytes > 0 || memory.live_peak_bytes == 0) packed[memory.name] = memory.packed_peak_bytes;
  }
  json["peak_bytes"] = std::move(packed);
  json["live_peak_bytes"] = std::move(live);
  json["footprint_bytes"] = json_of(evaluation.footprint_bytes);
}

Json inference_json(const Evaluation& evaluation) {
  if (evaluation.inference || evaluation.inference_cycles <= 0) return nullptr;
  return {{"latency_cycles", evaluation.inference_cycles},
          {"energy_pj", evaluation.inference_pj},
          {"peak_bytes", evaluation.inference_peak_bytes}};
}

// Null where no bound is known.
Json bound_json(const Evaluation& evaluation) {
  const auto known = [](double bound) { return bound > 0 ? Json(bound) : Json(nullptr); };
  return {{"latency_cycles", known(evaluation.bound_cycles)},
          {"energy_pj", known(evaluation.bound_pj)},
          {"by", evaluation.bound_by}};
}

}  // namespace

namespace {

Json json_of(const ParallelResult& parallel) {
  Json axes = Json::array(), exposed = Json::object();
  for (const AxisResult& axis : parallel.axes) {
    axes.push_back({{"axis", axis.axis},
                    {"chips", axis.chips},
                    {"collectives", axis.collectives},
                    {"sent_bytes", axis.sent_bytes},
                    {"communication_s", axis.communication_s},
                    {"exposed_s", axis.exposed_s}});
    exposed[axis.axis] = axis.exposed_s;
  }
  return {{"recipe", parallel.recipe}, {"micro_batch", parallel.micro_batch},
          {"tokens", parallel.tokens}, {"model_macs", parallel.model_macs},
          {"axes", std::move(axes)},   {"exposed", std::move(exposed)}};
}

Json json_of(const StageResult& stage) {
  return {{"chip", stage.chip},
          {"chips", stage.chips},
          {"stages", stage.stages},
          {"blocks", stage.blocks},
          {"forward_s", stage.forward_s},
          {"backward_s", stage.backward_s},
          {"update_s", stage.update_s},
          {"busy_s", stage.busy_s},
          {"static_bytes", stage.static_bytes},
          {"peak_bytes", stage.peak_bytes},
          {"in_flight", stage.in_flight}};
}

void add_pipeline(Json& json, const ParallelResult& parallel) {
  if (parallel.stages.empty()) return;
  json["bubble_fraction"] = parallel.bubble_fraction;
  Json& pipeline = json["pipeline"];
  pipeline["schedule"] = parallel.schedule;
  for (const StageResult& stage : parallel.stages) pipeline["stages"].push_back(json_of(stage));
  Json tasks = Json::array();
  for (const PipelineEvent& event : parallel.pipeline)
    tasks.push_back({event.chip, event.stage, event.micro_batch, event.part, event.begin_s, event.end_s});
  pipeline["tasks"] = std::move(tasks);
}

// Beside what is said of one chip.
void add_parallel(Json& json, const Evaluation& evaluation) {
  if (!evaluation.parallel) return;
  const ParallelResult& parallel = *evaluation.parallel;
  json["parallel"] = json_of(parallel);
  json["chips"] = parallel.chips;
  json["samples_per_s"] = parallel.samples_per_s;
  json["tokens_per_s"] = parallel.tokens > 0 ? Json(parallel.tokens_per_s) : Json(nullptr);
  json["mfu"] = parallel.mfu > 0 ? Json(parallel.mfu) : Json(nullptr);
  json["hfu"] = parallel.hfu > 0 ? Json(parallel.hfu) : Json(nullptr);
  add_pipeline(json, parallel);
  json["exposed_communication"] = json["parallel"]["exposed"];
  json["parallel"].erase("exposed");
  json["chip_energy_pj"] = evaluation.energy_pj;
  json["energy_pj"] = parallel.energy_pj;
}

}  // namespace

std::string to_json(const Evaluation& evaluation) {
  const bool clocked = evaluation.clock_hz > 0;
  Json json = {{"schema", 1}, {"command", "evaluate"}};
  json["model"] = evaluation.model;
  json["hardware"] = evaluation.hardware;
  json["hardware_parameters"] = evaluation.hardware_parameters;
  json["objective"] = evaluation.objective;
  json["mode"] = evaluation.inference ? "inference" : "training";
  json["clock_hz"] = clocked ? Json(evaluation.clock_hz) : Json(nullptr);
  json["recipe"] = evaluation.recipe;
  json["recipe_from"] = evaluation.recipe_from;
  json["recipe_text"] = numbers_text(evaluation.recipe, evaluation.recipe_from);
  add_reach(json, evaluation.reach);
  json["optimizer"] = evaluation.optimizer;
  json["batch"] = evaluation.batch;
  json["micro_batches"] = evaluation.micro_batches;
  json["fits"] = evaluation.fits;
  json["does_not_fit"] = evaluation.does_not_fit;
  json["diagnosis"] = diagnosis_of(evaluation);
  json["latency_cycles"] = evaluation.latency_cycles;
  json["latency_s"] = clocked ? Json(evaluation.latency_s) : Json(nullptr);
  json["latency_by"] = json_of(evaluation.latency_by);
  json["energy_pj"] = evaluation.energy_pj;
  json["energy_breakdown"] = json_of(evaluation.energy);
  json["energy_by"] = json_of(evaluation.energy_by);
  add_memory_peaks(json, evaluation);
  json["macs"] = evaluation.macs;
  json["utilization"] = evaluation.utilization;
  json["nodes"] = evaluation.nodes;
  json["parameters"] = evaluation.parameters;
  json["saved_bytes"] = evaluation.saved_bytes;
  json["stacks"] = evaluation.stacks;
  json["tiles"] = evaluation.tiles;
  json["transfers"] = evaluation.transfers;
  json["bound"] = bound_json(evaluation);
  if (!evaluation.home.empty()) json["home"] = evaluation.home;
  json["checked"] = evaluation.checked;
  if (evaluation.wall_s >= 0) {
    json["wall_s"] = evaluation.wall_s;
    json["wall_breakdown"] = {{"map_s", evaluation.map_s},
                              {"schedule_s", evaluation.schedule_s},
                              {"check_s", evaluation.check_s},
                              {"pack_s", evaluation.pack_s}};
  }
  json["phases"] = list_of(evaluation.phases);
  json["operators"] = list_of(evaluation.operators);
  json["resources"] = list_of(evaluation.resources);
  json["memories"] = list_of(evaluation.memories);
  json["critical_path"] = list_of(critical_runs(evaluation.critical_path));
  json["critical_by_kind"] = json_of(evaluation.critical_by_kind);
  json["inference"] = inference_json(evaluation);
  json["options"] = list_of(evaluation.options);
  json["filled"] = evaluation.filled;
  json["expanded"] = evaluation.expanded;
  json["warnings"] = evaluation.warnings;
  json["notes"] = evaluation.notes;
  add_parallel(json, evaluation);
  return text_of(json);
}

}  // namespace monet
