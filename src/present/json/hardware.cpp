#include "present/json/json.h"

#include <monet/hardware.h>

namespace monet {

namespace {

// JSON has no way to say "nothing" in a letter.
Json letter(char confidence) { return confidence == '-' ? Json() : Json(std::string(1, confidence)); }

Json json_of(const MemorySummary& memory, bool in_core) {
  Json json = {{"name", memory.name}, {"kind", memory.kind}, {"size_bits", memory.size_bits}};
  if (in_core) {
    json["instances"] = memory.instances;
    json["shared"] = memory.shared;
    json["paths"] = memory.paths;
  }
  json["ports"] = Json::array();
  for (const PortSummary& port : memory.ports) {
    Json& entry = json["ports"].emplace_back(Json{{"name", port.name},
                                                  {"kind", port.kind},
                                                  {"min_bits", port.min_bits},
                                                  {"max_bits", port.max_bits},
                                                  {"bits_per_cycle", port.bits_per_cycle}});
    if (in_core) entry["moves"] = port.moves;
  }
  json["read_pj"] = memory.read_pj;
  json["write_pj"] = memory.write_pj;
  json["latency_cycles"] = memory.latency_cycles;
  json["static_w"] = memory.static_w;
  json["area_mm2"] = memory.area_mm2;
  json["double_buffered"] = memory.double_buffered;
  return json;
}

Json json_of(const UnitSummary& unit) {
  Json json = {{"name", unit.name}, {"lanes", unit.lanes}};
  json["dimensions"] = Json::array();
  for (const auto& dimension : unit.dimensions)
    json["dimensions"].push_back({{"name", dimension.name}, {"size", dimension.size}, {"loops", dimension.loops}});
  json["operations"] = Json::object();
  for (const OperationSummary& operation : unit.operations) {
    Json& entry = json["operations"][operation.kind];
    if (unit.name == "rate") {
      entry["operations_per_s"] = operation.operations_per_s;
    } else {
      entry["cycles"] = operation.cycles;
    }
    entry["energy_pj"] = operation.energy_pj;
  }
  json["precisions"] = Json::object();
  for (const PrecisionSummary& precision : unit.precisions) {
    json["precisions"][precision.name] = {
        {"rate", precision.rate}, {"energy", precision.energy}, {"accumulate", precision.accumulate}};
  }
  json["fill_cycles"] = unit.fill_cycles;
  json["cycle_rule"] = unit.cycle_rule.empty() ? Json() : Json(unit.cycle_rule);
  json["energy_pj_per_cycle"] = unit.energy_pj_per_cycle;
  return json;
}

Json json_of(const CoreSummary& core) {
  Json json = {{"type", core.type}, {"count", core.names.size()}, {"names", core.names}, {"operators", core.operators}};
  json["units"] = Json::array();
  for (const UnitSummary& unit : core.units) json["units"].push_back(json_of(unit));
  json["memories"] = Json::array();
  for (const MemorySummary& memory : core.memories) json["memories"].push_back(json_of(memory, true));
  json["static_w"] = core.static_w;
  json["area_mm2"] = core.area_mm2;
  return json;
}

Json json_of(const PeakSummary& peak) {
  Json json = {{"operations_per_s", peak.operations_per_s}};
  json["stated"] = peak.stated ? Json(*peak.stated) : Json();
  if (peak.stated) {
    json["deviation_percent"] = peak.deviation_percent;
    json["holds"] = peak.holds;
    json["source"] = peak.source;
    json["confidence"] = letter(peak.confidence);
  }
  return json;
}

Json json_of(const FabricLevelSummary& level) {
  Json json = {{"name", level.name}, {"kind", level.kind}};
  json["chips"] = level.chips ? Json(*level.chips) : Json("any");
  if (!level.sizes.empty()) json["sizes"] = level.sizes;
  if (level.dimensions) json["dimensions"] = *level.dimensions;
  json["bytes_per_s"] = level.bytes_per_s;
  json["latency_s"] = level.latency_s;
  json["start_s"] = level.start_s;
  json["reduces"] = level.reduces;
  json["energy_pj_per_bit"] = level.energy_pj_per_bit;
  json["oversubscription"] = level.oversubscription;
  json["chip_share"] = level.chip_share;
  if (!level.algorithms.empty()) json["algorithms"] = level.algorithms;
  const auto add_points = [&](const char* key, const std::vector<std::pair<double, double>>& table) {
    if (!table.empty()) json[key] = Json::array();
    for (const auto& [bytes, share] : table) json[key].push_back({{"bytes", bytes}, {"share", share}});
  };
  add_points("efficiency", level.efficiency);
  add_points("efficiency_in_switch", level.efficiency_in_switch);
  return json;
}

}  // namespace

std::string to_json(const std::vector<PresetSummary>& presets) {
  Json json = {{"schema", 1}, {"command", "hardware list"}};
  json["presets"] = Json::array();
  for (const PresetSummary& preset : presets) {
    json["presets"].push_back(
        {{"name", preset.name},
         {"description", preset.description},
         {"cores", preset.cores},
         {"macs_per_cycle", preset.macs_per_cycle},
         {"clock_hz", preset.clock_hz},
         {"peak", {{"precision", preset.peak_precision}, {"operations_per_s", preset.peak_operations_per_s}}},
         {"on_chip_bits", preset.on_chip_bits},
         {"dram_bits", preset.dram_bits},
         {"confidence", letter(preset.confidence)}});
  }
  return text_of(json);
}

std::string to_json(const HardwareReport& report, const HardwareView& view) {
  Json json = {{"schema", 1}, {"command", "hardware show"}, {"name", report.name}, {"description", report.description}};
  json["clock_hz"] = report.clock_hz;
  json["technology_nm"] = report.technology_nm > 0 ? Json(report.technology_nm) : Json();
  json["parameters"] = Json::object();
  for (const auto& [name, value] : report.parameters) json["parameters"][name] = value;
  json["effects"] = report.effects;
  json["on_chip_bits"] = report.on_chip_bits;
  json["dram_bits"] = report.dram_bits;
  json["gang_cores"] = report.gang_cores;
  json["macs_per_cycle"] = report.macs_per_cycle;
  json["static_w"] = report.without_static_power.empty() ? Json(report.static_w) : Json();
  json["area_mm2"] = report.without_area.empty() ? Json(report.area_mm2) : Json();
  json["known_static_w"] = report.static_w;
  json["known_area_mm2"] = report.area_mm2;
  json["confidence"] = letter(report.confidence);
  json["time_confidence"] = letter(report.time_confidence);
  json["energy_confidence"] = letter(report.energy_confidence);
  add_reach(json, report.reach);
  json["peaks"] = Json::object();
  for (const PeakSummary& peak : report.peaks) json["peaks"][peak.precision] = json_of(peak);
  json["cores"] = Json::array();
  for (const CoreSummary& core : report.cores) json["cores"].push_back(json_of(core));
  json["memories"] = Json::array();
  for (const MemorySummary& memory : report.memories) json["memories"].push_back(json_of(memory, false));
  json["links"] = Json::array();
  for (const LinkSummary& link : report.links) {
    json["links"].push_back({{"name", link.name},
                             {"kind", link.kind},
                             {"count", link.count},
                             {"between", link.between},
                             {"bits_per_cycle", link.bits_per_cycle},
                             {"latency_cycles", link.latency_cycles},
                             {"energy_pj_per_bit", link.energy_pj_per_bit},
                             {"both_ways", link.both_ways}});
  }
  if (!report.fabric.empty()) json["fabric"] = Json::array();
  for (const FabricLevelSummary& level : report.fabric) json["fabric"].push_back(json_of(level));
  json["values"] = Json::array();
  for (const ValueSummary& value : report.values) {
    if (!view.values && !value.derived) continue;
    json["values"].push_back({{"part", value.part},
                              {"quantity", value.quantity},
                              {"value", value.value},
                              {"source", value.source},
                              {"confidence", letter(value.confidence)},
                              {"derived", value.derived}});
  }
  json["notes"] = report.notes;
  return text_of(json);
}

}  // namespace monet
