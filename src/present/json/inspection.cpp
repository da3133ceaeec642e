#include "present/json/json.h"

#include <fmt/format.h>

namespace monet {

Json json_of(const ByPhase& by_phase) {
  return {{"forward", by_phase.forward}, {"backward", by_phase.backward}, {"optimizer", by_phase.optimizer}};
}

namespace {

Json json_of(const std::vector<std::pair<std::string, std::int64_t>>& numbers) {
  Json object = Json::object();
  for (const auto& [name, number] : numbers) object[name] = number;
  return object;
}

Json json_of(const std::vector<TensorSummary>& tensors) {
  Json list = Json::array();
  for (const TensorSummary& tensor : tensors) {
    list.push_back({{"name", tensor.name}, {"shape", tensor.shape}, {"type", tensor.type}, {"role", tensor.role}});
  }
  return list;
}

Json json_of(const OperatorSummary& row) {
  return {{"operator", row.op},
          {"nodes", row.nodes},
          {"parameters", row.parameters},
          {"macs", row.macs},
          {"other_operations", row.other_operations},
          {"output_bytes", row.output_bytes}};
}

// "B 1, K 64, C 3": of each nest, nests separated by "; ".
std::string loops_text(const LayerSummary& layer) {
  std::string text;
  for (const auto& loops : layer.nests) {
    if (!text.empty()) text += "; ";
    for (std::size_t i = 0; i < loops.size(); ++i)
      text += fmt::format("{}{} {}", i > 0 ? ", " : "", name_of(loops[i].first), loops[i].second);
  }
  return text;
}

Json json_of(const LayerSummary& layer) {
  return {{"name", layer.name},
          {"operator", layer.op},
          {"phase", layer.phase},
          {"inputs", json_of(layer.inputs)},
          {"outputs", json_of(layer.outputs)},
          {"loops", loops_text(layer)},
          {"parameters", layer.parameters},
          {"macs", layer.macs},
          {"other_operations", layer.other_operations},
          {"operations", json_of(layer.operations)}};
}

template <class Rows>
Json layers_of(const Rows& rows) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(json_of(row));
  return list;
}

}  // namespace

void add_inspection(Json& json, const Inspection& inspection, bool with_layers) {
  json["model"] = inspection.model;
  json["training_step"] = inspection.is_training_step;
  json["parameters"] = inspection.parameters;
  json["parameter_tensors"] = inspection.parameter_tensors;
  json["macs"] = json_of(inspection.macs);
  json["other_operations"] = json_of(inspection.other_operations);
  json["nodes"] = json_of(inspection.nodes);
  json["operations"] = json_of(inspection.operations);
  json["bytes"] = json_of(inspection.bytes_by_role);
  json["inputs"] = json_of(inspection.inputs);
  json["outputs"] = json_of(inspection.outputs);
  json["operators"] = layers_of(inspection.operators);
  if (with_layers) json["layers"] = layers_of(inspection.layers);
  json["warnings"] = inspection.warnings;
  json["notes"] = inspection.notes;
}

// Names in a file may be any bytes; what is not UTF-8 is replaced.
std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

std::string to_json(const Inspection& inspection, bool with_layers) {
  Json json = {{"schema", 1}, {"command", "inspect"}};
  add_inspection(json, inspection, with_layers);
  return text_of(json);
}

}  // namespace monet
