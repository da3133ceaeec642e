// Writes a graph as an ONNX file that every runtime can run: standard operators only (operator set 20, ir_version 9;
// newer ones only where an element type needs them).
//
// Inputs are the graph's, then every tensor from outside whose value is not known, under its name: parameters,
// statistics, optimizer state. No weight is in the file. Outputs are the graph's, then what replaces a tensor's value
// when the step ends. Operators that ONNX does not have are written as the simpler ones of which they consist.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <string>

namespace monet::onnx {

// Requires: verify(graph) holds.
// Ensures:  names of nodes and tensors outside expanded operators are the graph's, but that an output which is an input
//           or listed before gets a name of its own; equal graphs give equal bytes.
// Fails on a node that has neither a standard form nor an expansion, and on number formats that ONNX does not have.
// Cost:     linear in the number of nodes and tensors.
Expected<std::string> write_bytes(const Graph& graph);

// The same into a file, which is there in full or, when something fails, as it was.
Status write(const Graph& graph, const std::string& path);

}  // namespace monet::onnx
