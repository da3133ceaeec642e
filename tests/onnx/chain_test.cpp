// Does reading stay linear where graphs are long?
#include "graph/compact.h"
#include "graph/verify.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace monet::onnx {
namespace {

using test::OnnxModel;

OnnxModel chain(std::size_t length) {
  OnnxModel model;
  model.input("v0", {4});
  for (std::size_t i = 0; i < length; ++i) {
    const std::string from = "v" + std::to_string(i);
    const std::string to = "v" + std::to_string(i + 1);
    if (i % 2 == 0) {
      model.node("Relu", {from}, {to});
    } else {
      model.node("Add", {from, "v0"}, {to});
    }
  }
  model.output("v" + std::to_string(length));
  return model;
}

TEST(Chain, AHundredThousandNodesAreReadVerifiedAndCompacted) {
  const NetworkGraph network = chain(100'000).network();
  ASSERT_EQ(network.graph.nodes().size(), 100'000);
  const Graph compacted = compact(network.graph);
  EXPECT_EQ(compacted.tensors().size(), network.graph.tensors().size());
  EXPECT_TRUE(verify(compacted).has_value());
}

TEST(Chain, NodesInAnyOrderAreSorted) {
  OnnxModel model = chain(10'000);
  std::shuffle(model.nodes.begin(), model.nodes.end(), std::mt19937(5));
  const NetworkGraph network = model.network();
  ASSERT_EQ(network.graph.nodes().size(), 10'000);
  EXPECT_TRUE(verify(network.graph).has_value());
  for (std::size_t i = 0; i < 10'000; ++i) ASSERT_EQ(network.graph.nodes()[i].name, "v" + std::to_string(i + 1));
  std::ranges::reverse(model.nodes);
  EXPECT_EQ(model.network().graph.nodes().size(), 10'000);
}

TEST(Chain, ManyNodesOfOneNameGetNamesOfTheirOwn) {
  OnnxModel model = chain(5'000);
  for (test::OnnxNode& node : model.nodes) node.name = "layer";
  const NetworkGraph network = model.network();
  EXPECT_TRUE(verify(network.graph).has_value());
  EXPECT_EQ(network.graph.nodes()[0].name, "layer");
  EXPECT_EQ(network.graph.nodes()[1].name, "layer#2");
}

TEST(Chain, ATensorWithManyReaders) {
  OnnxModel model;
  model.input("x", {4});
  for (int i = 0; i < 5'000; ++i) {
    model.node("Relu", {"x"}, {"r" + std::to_string(i)});
    model.output("r" + std::to_string(i));
  }
  EXPECT_EQ(model.network().graph.nodes().size(), 5'000);
}

}  // namespace
}  // namespace monet::onnx
