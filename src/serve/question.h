// What a page asks for, as JSON: a step on a machine, and what to do with it.
#pragma once

#include "serve/folder.h"

#include <monet/evaluate.h>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace monet::serving {

// {"network": "resnet18", "machine": "edge_tpu" or "machine_yaml": "…", "set": {"x": "4"}, "batch": 8, "precision":
// "bf16",
//  "optimizer": "sgd", "inference": true, "lowering": "compiled", "order": "graph", "plan": "…", "command": "evaluate",
//  "samples": 100, "space": "edge_tpu", "evaluations": 60, "memory_budget": "2MiB", "objective": "latency"}
struct Question {
  std::string command = "evaluate";  // fuse, checkpoint, optimize, explore
  std::string title;                 // "resnet18 on edge_tpu"
  std::string words;                 // the same for a terminal: "monet evaluate resnet18 --hardware edge_tpu --batch 8"
  Network network;
  StepRequest step;
  std::string space, space_network, store_key;           // of explore; network: empty, the space's own
  std::int64_t samples = 0, evaluations = 0, batch = 0;  // batch: of explore
  std::string memory_budget;
};

// What is not known, or of another type, is an error that names it.
Expected<Question> question_from(const nlohmann::ordered_json& json, const ServeFolder& folder);

}  // namespace monet::serving
