#include "present/json/json.h"
#include "present/shared/numbers.h"

#include <monet/train.h>

namespace monet {

std::string to_json(const Training& training, const TrainView& view) {
  Json json = {{"schema", 1}, {"command", "train"}};
  add_inspection(json, training.step, view.layers);
  json["loss"] = training.loss;
  json["optimizer"] = training.optimizer;
  json["precision"] = training.precision;
  json["recipe"] = training.recipe;
  json["recipe_from"] = training.recipe_from;
  json["recipe_text"] = numbers_text(training.recipe, training.recipe_from);
  json["micro_batches"] = training.micro_batches;
  json["trained_parameters"] = training.trained_parameters;
  json["trained_tensors"] = training.trained_tensors;
  json["static_bytes"] = training.static_bytes.total();
  json["static_breakdown"] = {{"parameters", training.static_bytes.parameters},
                              {"buffers", training.static_bytes.buffers},
                              {"optimizer_state", training.static_bytes.optimizer_state},
                              {"batch", training.static_bytes.batch}};
  if (!training.formats.empty()) json["formats"] = Json::array();
  for (const FormatClass& each : training.formats) {
    json["formats"].push_back({{"class", each.name},
                               {"format", each.format},
                               {"tensors", each.tensors},
                               {"copies", each.copies},
                               {"elements", each.elements},
                               {"bytes", each.bytes},
                               {"padding_bytes", each.padding_bytes}});
  }
  json["gradient_bytes"] = training.gradient_bytes;
  json["saved_bytes"] = training.saved_bytes;
  json["saved_elements"] = training.saved_elements;
  json["saved"] = Json::array();
  for (const SavedSummary& saved : training.saved) {
    json["saved"].push_back({{"name", saved.name},
                             {"bytes", saved.bytes},
                             {"storage_bytes", saved.storage_bytes},
                             {"elements", saved.elements},
                             {"shape", saved.shape},
                             {"type", saved.type}});
  }
  if (!training.recomputed.empty()) {
    json["recomputed"] = {
        {"tensors", training.recomputed}, {"nodes", training.recomputed_nodes}, {"macs", training.recomputed_macs}};
  }
  if (view.parameters) {
    json["parameter_list"] = Json::array();
    for (const ParameterSummary& parameter : training.parameters) {
      json["parameter_list"].push_back({{"name", parameter.name},
                                        {"shape", parameter.shape},
                                        {"type", parameter.type},
                                        {"trained", parameter.trained}});
    }
  }
  return text_of(json);
}

}  // namespace monet
