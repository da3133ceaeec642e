#include "present/json/json.h"
#include "present/shared/numbers.h"

#include <monet/map.h>

namespace monet {

namespace {

Json nest_json(const MappedNest& nest) {
  Json json;
  json["unit"] = nest.unit;
  json["precision"] = nest.precision;
  Json loops = Json::object();
  for (const auto& [name, size] : nest.loops) loops[name] = size;
  json["loops"] = std::move(loops);
  Json unrolled = Json::object();
  for (const auto& [name, lanes] : nest.unrolled) unrolled[name] = lanes;
  json["unrolled"] = std::move(unrolled);
  json["order"] = nest.order;
  json["cycles"] = nest.cycles;
  json["ideal_cycles"] = nest.ideal_cycles;
  json["compute_cycles"] = nest.compute_cycles;
  json["stall_cycles"] = nest.stall_cycles;
  json["load_cycles"] = nest.load_cycles;
  json["unload_cycles"] = nest.unload_cycles;
  json["fill_cycles"] = nest.fill_cycles;
  json["energy_pj"] = nest.energy_pj;
  Json parts = Json::object();
  parts["compute"] = nest.compute_pj;
  for (const auto& [memory, pj] : nest.memory_pj) parts[memory] = pj;
  parts["network"] = nest.network_pj;
  parts["static"] = nest.static_pj;
  json["energy_breakdown"] = std::move(parts);
  Json traffic = Json::array();
  for (const MemoryTraffic& entry : nest.traffic) {
    traffic.push_back({{"operand", entry.operand},
                       {"memory", entry.memory},
                       {"read_words", entry.read_words},
                       {"written_words", entry.written_words},
                       {"read_bits", entry.read_bits},
                       {"written_bits", entry.written_bits}});
  }
  json["traffic"] = std::move(traffic);
  json["bound_cycles"] = nest.bound_cycles;
  json["bound_pj"] = nest.bound_pj;
  json["bound_by"] = nest.bound_by;
  json["mappings"] = nest.evaluated;
  return json;
}

// Null where the law has no tiles.
Json kernel_json(const MappedKernel& kernel) {
  const bool tiled = kernel.tile_m > 0;
  return {{"class", kernel.kernel_class},
          {"law", kernel.law},
          {"law_of", kernel.law_of.empty() ? Json(nullptr) : Json(kernel.law_of)},
          {"measured", kernel.measured},
          {"tile_m", tiled ? Json(kernel.tile_m) : Json(nullptr)},
          {"tile_n", tiled ? Json(kernel.tile_n) : Json(nullptr)},
          {"split", tiled ? Json(kernel.split) : Json(nullptr)},
          {"waves", tiled ? Json(kernel.waves) : Json(nullptr)},
          {"cold_share", kernel.cold_share},
          {"us", kernel.us}};
}

Json layer_json(const MappedLayer& layer) {
  Json json;
  json["name"] = layer.name;
  json["operator"] = layer.op;
  json["phase"] = layer.phase;
  json["core"] = layer.core;
  json["macs"] = layer.macs;
  json["cycles"] = layer.cycles;
  json["ideal_cycles"] = layer.ideal_cycles;
  json["energy_pj"] = layer.energy_pj;
  json["utilization"] = layer.utilization;
  json["bound_cycles"] = layer.bound_cycles;
  Json nests = Json::array();
  for (const MappedNest& nest : layer.nests) nests.push_back(nest_json(nest));
  json["nests"] = std::move(nests);
  if (layer.kernel) json["kernel"] = kernel_json(*layer.kernel);
  return json;
}

}  // namespace

std::string to_json(const NetworkMapping& mapping) {
  Json json;
  json["schema"] = 1;
  json["model"] = mapping.model;
  json["hardware"] = mapping.hardware;
  json["recipe"] = mapping.recipe;
  json["recipe_from"] = mapping.recipe_from;
  json["recipe_text"] = numbers_text(mapping.recipe, mapping.recipe_from);
  add_reach(json, mapping.reach);
  json["mode"] = mapping.mode;
  json["objective"] = mapping.objective;
  if (mapping.clock_hz > 0) json["clock_hz"] = mapping.clock_hz;
  Json layers = Json::array();
  for (const MappedLayer& layer : mapping.layers) layers.push_back(layer_json(layer));
  json["layers"] = std::move(layers);
  Json unmapped = Json::array();
  for (const MappedLayer& layer : mapping.unmapped) {
    unmapped.push_back(
        {{"name", layer.name}, {"operator", layer.op}, {"phase", layer.phase}, {"reason", layer.reason}});
  }
  json["unmapped"] = std::move(unmapped);
  json["expanded"] = mapping.expanded;
  json["total"] = {{"cycles", mapping.cycles},
                   {"energy_pj", mapping.energy_pj},
                   {"macs", mapping.macs},
                   {"bound_cycles", mapping.bound_cycles}};
  if (mapping.clock_hz > 0) json["total"]["seconds"] = mapping.cycles / mapping.clock_hz;
  json["views"] = mapping.views;
  json["unique"] = mapping.unique;
  json["mappings"] = mapping.evaluated;
  json["warnings"] = mapping.warnings;
  json["notes"] = mapping.notes;
  return text_of(json);
}

}  // namespace monet
