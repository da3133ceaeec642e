// What a small ONNX file computes.
#pragma once

#include "interpret/interpret.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

#include <vector>

namespace monet::test {

// The first output where the first input is (-1, 0, 2).
inline std::vector<double> first_output(const OnnxModel& model) {
  const NetworkGraph network = model.network();
  if (network.graph.outputs.empty()) return {};
  Values values;
  values[network.graph.inputs[0]] = {{3}, {-1, 0, 2}};
  const Status status = run(network.graph, values);
  EXPECT_TRUE(status.has_value()) << status.error().text();
  return values[network.graph.outputs[0]].values;
}

}  // namespace monet::test
