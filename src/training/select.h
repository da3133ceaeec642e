// Which parameters are trained.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <optional>
#include <string>
#include <vector>

namespace monet::training {

struct SelectOptions {
  std::vector<std::string> train;           // patterns; if there are any, only what matches is trained
  std::vector<std::string> freeze;          // patterns; wins over `train`
  bool bias_only = false;                   // only what is added: biases of layers and norms
  std::optional<std::int64_t> last_layers;  // only the parameters of the last k layers that have any
};

// The chosen parameters, in the graph's order; all conditions hold together.
// Fails when a pattern matches no parameter, or nothing is left to train.
Expected<std::vector<TensorId>> select_trained(const Graph& graph, const SelectOptions& options);

}  // namespace monet::training
