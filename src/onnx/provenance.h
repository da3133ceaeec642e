// Signs in a file that it is not the network that was trained.
#pragma once

#include "graph/graph.h"
#include "onnx/flatten.h"

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace monet::onnx {

// What the exporter says about the tensors it was given: names of trained tensors and of buffers. Only the
// graph-capturing exporter says it, unless its notes were stripped.
struct Signature {
  std::unordered_set<std::string> parameters;
  std::unordered_set<std::string> buffers;  // and constants of the module
  bool names_modules = false;  // the exporter names initializers after the module's members, if it did not compute them

  // Whether the name is one that the exporter made up, for a tensor that it computed.
  bool made_up(std::string_view name) const;
  // Whether it is a member of the module that was exported, and so one whose value training may change; not one that
  // is known to be a buffer.
  bool is_member(std::string_view name) const;
};
Signature signature_of(const RawModel& model);

// What the user should be told; empty for a faithful export.
std::vector<std::string> provenance_warnings(const FlatModel& model, const Signature& signature, const Graph& graph);

}  // namespace monet::onnx
