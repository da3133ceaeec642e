// What a network is: parameters, operations, tensors, layer by layer.
#pragma once

#include <monet/expected.h>
#include <monet/loops.h>
#include <monet/network.h>
#include <monet/text.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monet {

// One number for each part of a training step.
struct ByPhase {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  std::int64_t optimizer = 0;

  std::int64_t total() const { return forward + backward + optimizer; }
};

// Operations by kind ("mac", "add", "exp", …), those that occur.
using OperationCounts = std::vector<std::pair<std::string, std::int64_t>>;

struct TensorSummary {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string type;  // "fp32", "int64", …
  std::string role;
};

struct LayerSummary {
  std::string name;
  std::string op;
  std::string phase;
  std::vector<TensorSummary> inputs;
  std::vector<TensorSummary> outputs;
  std::vector<std::vector<std::pair<Dim, std::int64_t>>> nests;  // the loops of each, with their sizes
  std::int64_t parameters = 0;                                   // counted at the first layer that reads them
  std::int64_t macs = 0;
  std::int64_t other_operations = 0;
  OperationCounts operations;
};

// All layers of one operator type.
struct OperatorSummary {
  std::string op;
  std::int64_t nodes = 0;
  std::int64_t parameters = 0;
  std::int64_t macs = 0;
  std::int64_t other_operations = 0;
  std::int64_t output_bytes = 0;  // 0 for views, which make no data
};

struct Inspection {
  std::string model;
  bool is_training_step = false;
  std::int64_t parameters = 0;
  std::int64_t parameter_tensors = 0;
  ByPhase macs;
  ByPhase other_operations;
  ByPhase nodes;
  OperationCounts operations;
  std::vector<std::pair<std::string, std::int64_t>> bytes_by_role;  // tensors with storage of their own
  std::vector<TensorSummary> inputs;
  std::vector<TensorSummary> outputs;
  std::vector<OperatorSummary> operators;  // most MACs first, then most other operations, then by name
  std::vector<LayerSummary> layers;        // in the order in which they can run
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
};

// Opens a built-in network or an ONNX file and says what it is.
Expected<Inspection> inspect(const Network& network, const NetworkOptions& options = {});

// As one JSON object with "schema": 1; with or without the layers.
std::string to_json(const Inspection& inspection, bool with_layers);

// As tables for people; with a line for each layer if wanted.
Text to_text(const Inspection& inspection, bool with_layers);

}  // namespace monet
