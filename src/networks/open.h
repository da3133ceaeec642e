// MODEL as every command takes it: the name of a built-in network with options, or an ONNX file.
#pragma once

#include "graph/network_graph.h"
#include "onnx/reader.h"

#include <monet/expected.h>

#include <string>

namespace monet {

// `model`: "resnet18", "gpt2:layers=2,width=384", "path/to/net.onnx". A file of that name wins over a built-in network
// only if the name has a path or ends in .onnx.
Expected<NetworkGraph> open_network(const std::string& model, const onnx::ReadOptions& options);

// What options that have sizes and roles say of reading: NetworkOptions, TrainOptions.
template <class Options>
onnx::ReadOptions read_options(const Options& options) {
  return {.batch = options.batch,
          .dimensions = options.dimensions,
          .roles = {options.parameter, options.buffer},
          .fused_norms = options.fused_norms};
}

}  // namespace monet
