// Why each tensor of a file exists: which initializers are trained, which are statistics, tables or masks; which nodes
// of a training step made by others are forward, backward, optimizer.
#pragma once

#include "graph/graph.h"
#include "graph/role_choice.h"
#include "onnx/provenance.h"

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace monet::onnx {

// Marks nodes with their phase. The gradient of the loss and all that follows from it is backward; what reads state
// that no forward node reads (moments, accumulation buffers) and all that follows is optimizer. Gives whether the
// graph has a backward part.
bool assign_phases(Graph& graph);

// What is known of tensors beside their places.
struct RoleHints {
  const RoleChoice* choice = nullptr;  // of the user: no notes about what it names
  // By name: whether the values of an initializer are those of a mask; nothing: they are not there.
  std::function<std::optional<bool>(const std::string&)> is_mask;
};

// Gives every tensor its role and marks parameters; what the exporter says about them in `signature` goes before what
// their position tells. Notes name what is not counted as a parameter, and why: floating-point initializers of some
// size, and constants and inputs that stand where a weight does.
void assign_roles(Graph& graph, const std::unordered_set<TensorId>& initializers, const Signature& signature,
                  bool is_training_step, std::vector<std::string>& notes, const RoleHints& hints = {});

}  // namespace monet::onnx
