// Whether a file means the same with and without the recognition of idioms.
#pragma once

#include "graph/verify.h"
#include "support/onnx_builder.h"
#include "support/random_values.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet::test {

inline std::vector<Array> outputs_of(const Graph& graph, unsigned seed) {
  Values values = random_values(graph, seed);
  const Status status = run(graph, values);
  EXPECT_TRUE(status.has_value()) << status.error().text();
  std::vector<Array> outputs;
  for (TensorId id : graph.outputs) outputs.push_back(values[id]);
  return outputs;
}

inline void expect_same_values(const Graph& one, const Graph& other, unsigned seed, double tolerance) {
  const auto expected = outputs_of(one, seed);
  const auto actual = outputs_of(other, seed);
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].shape, actual[i].shape);
    for (std::size_t k = 0; k < expected[i].values.size(); ++k) {
      const double scale = std::max(1.0, std::abs(expected[i].values[k]));
      ASSERT_NEAR(expected[i].values[k], actual[i].values[k], tolerance * scale) << "output " << i << " at " << k;
    }
  }
}

// Reads the file both ways, compares the values, and gives the graph with idioms recognized.
inline Graph recognized(const OnnxModel& model, double tolerance = 1e-9) {
  const NetworkGraph with = model.network({.fused_norms = true});
  const NetworkGraph without = model.network({.recognize_idioms = false});
  EXPECT_TRUE(verify(with.graph).has_value());
  expect_same_values(without.graph, with.graph, 11, tolerance);
  return with.graph;
}

}  // namespace monet::test
