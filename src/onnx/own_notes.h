// What a file that this program wrote says about itself beyond ONNX, so that reading it gives back the step as it was:
// each node's phase and whether it is recomputed, each tensor's role, what is trained, what replaces what.
#pragma once

#include "graph/graph.h"
#include "onnx/flatten.h"

#include <string_view>

namespace monet::onnx {

constexpr std::string_view own_producer = "monet";
constexpr std::string_view phase_key = "monet.phase";            // of a node: name_of(Phase)
constexpr std::string_view recomputed_key = "monet.recomputed";  // of a node that repeats one: "true"
constexpr std::string_view role_key = "monet.role";              // of a tensor: name_of(Role); absent: activation
constexpr std::string_view parameter_key = "monet.parameter";    // of an input that is trained: "true"
constexpr std::string_view updates_key = "monet.updates";        // of an output: the input that it replaces

// Whether the file has such notes.
bool has_own_notes(const RawModel& model);

// Gives nodes and tensors what the notes say: instead of assign_phases() and assign_roles(). Whether there is a
// backward part.
bool apply_own_notes(const FlatModel& model, Graph& graph);

}  // namespace monet::onnx
