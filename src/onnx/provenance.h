// Signs in a file that it is not the network that was trained.
#pragma once

#include "graph/graph.h"
#include "onnx/flatten.h"

#include <string>
#include <unordered_set>
#include <vector>

namespace monet::onnx {

// What the exporter says about the tensors it was given: names of trained tensors and of buffers. Only the
// graph-capturing exporter says it, unless its notes were stripped.
struct Signature {
  std::unordered_set<std::string> parameters;
  std::unordered_set<std::string> buffers;
};
Signature signature_of(const RawModel& model);

// What the user should be told; empty for a faithful export.
std::vector<std::string> provenance_warnings(const FlatModel& model, const Graph& graph);

}  // namespace monet::onnx
