// Opens ONNX files: forward networks from any common exporter, and training steps made by others.
#pragma once

#include "graph/network_graph.h"
#include "graph/role_choice.h"

#include <monet/expected.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monet::onnx {

struct ReadOptions {
  // The size of the first axis of the model's inputs, whether the file leaves it open or has it fixed.
  std::optional<std::int64_t> batch;
  // Sizes of symbolic dimensions, by name.
  std::vector<std::pair<std::string, std::int64_t>> dimensions;
  // What the user says is trained and what is not.
  RoleChoice roles;
  // Norms that are spelt out by choice (the file's operator set has an operator for them, or they are RMS norms, which
  // frameworks have long had none for) become one operator; else they stay as written, with all that training keeps
  // in between.
  bool fused_norms = false;
  // Replace spelt-out activations, norms and attention by the operators they are.
  bool recognize_idioms = true;

  bool operator==(const ReadOptions&) const = default;
};

// Requires nothing of the file: whatever is in it, the answer is a network whose graph verify() accepts, or an error
// that names the file or the node. Weights are not read: the cost is linear in the number of nodes and tensors.
Expected<NetworkGraph> read(const std::string& path, const ReadOptions& options);

// The same from bytes; `folder` is where external data are looked for (small values only).
Expected<NetworkGraph> read_bytes(std::string_view bytes, const std::string& folder, const ReadOptions& options);

}  // namespace monet::onnx
