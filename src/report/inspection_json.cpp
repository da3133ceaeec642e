#include <monet/inspect.h>

#include <nlohmann/json.hpp>

namespace monet {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ByPhase& by_phase) {
  return {{"forward", by_phase.forward}, {"backward", by_phase.backward}, {"optimizer", by_phase.optimizer}};
}

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

Json json_of(const LayerSummary& layer) {
  return {{"name", layer.name},
          {"operator", layer.op},
          {"phase", layer.phase},
          {"inputs", json_of(layer.inputs)},
          {"outputs", json_of(layer.outputs)},
          {"loops", layer.loops},
          {"parameters", layer.parameters},
          {"macs", layer.macs},
          {"other_operations", layer.other_operations},
          {"operations", json_of(layer.operations)}};
}

template <class Rows>
Json list_of(const Rows& rows) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(json_of(row));
  return list;
}

}  // namespace

std::string to_json(const Inspection& inspection, bool with_layers) {
  Json json = {{"schema", 1},
               {"command", "inspect"},
               {"model", inspection.model},
               {"training_step", inspection.is_training_step},
               {"parameters", inspection.parameters},
               {"parameter_tensors", inspection.parameter_tensors},
               {"macs", json_of(inspection.macs)},
               {"other_operations", json_of(inspection.other_operations)},
               {"nodes", json_of(inspection.nodes)},
               {"operations", json_of(inspection.operations)},
               {"bytes", json_of(inspection.bytes_by_role)},
               {"inputs", json_of(inspection.inputs)},
               {"outputs", json_of(inspection.outputs)},
               {"operators", list_of(inspection.operators)}};
  if (with_layers) json["layers"] = list_of(inspection.layers);
  json["warnings"] = inspection.warnings;
  json["notes"] = inspection.notes;
  // Names in a file may be any bytes; what is not UTF-8 is replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace monet
