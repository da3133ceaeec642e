// Do patterns, bias-only and last-layers choose what they say, and are wrong ones refused?
#include "training/select.h"

#include "networks/builtin.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet::training {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> chosen(const std::string& network, const SelectOptions& options) {
  const auto graph = build_builtin(network);
  EXPECT_TRUE(graph.has_value());
  const auto ids = select_trained(*graph, options);
  EXPECT_TRUE(ids.has_value()) << (ids ? "" : ids.error().text());
  std::vector<std::string> names;
  if (!ids) return names;
  for (TensorId id : *ids) names.push_back((*graph)[id].name);
  return names;
}

std::string selection_refusal(const SelectOptions& options) {
  const auto graph = build_builtin("mlp-robotics");
  const auto ids = select_trained(*graph, options);
  return ids ? "accepted" : ids.error().text();
}

TEST(Select, EverythingUnlessTold) { EXPECT_EQ(chosen("mlp-robotics", {}).size(), 8U); }

TEST(Select, ByPattern) {
  EXPECT_THAT(chosen("mlp-robotics", {.train = {"layers.0.*"}}), ElementsAre("layers.0.weight", "layers.0.bias"));
  EXPECT_THAT(chosen("mlp-robotics", {.train = {"layers.?.weight"}, .freeze = {"layers.0.*", "layers.1.*"}}),
              ElementsAre("layers.2.weight", "layers.3.weight"));
}

TEST(Select, OnlyBiases) {
  EXPECT_THAT(chosen("mlp-robotics", {.bias_only = true}),
              ElementsAre("layers.0.bias", "layers.1.bias", "layers.2.bias", "layers.3.bias"));
  for (const std::string& name : chosen("bert-base:layers=1", {.bias_only = true})) {
    EXPECT_THAT(name, testing::EndsWith("bias"));
  }
}

TEST(Select, LastLayersWithTheirBiases) {
  EXPECT_THAT(chosen("mlp-robotics", {.last_layers = 2}),
              ElementsAre("layers.2.weight", "layers.2.bias", "layers.3.weight", "layers.3.bias"));
  EXPECT_THAT(chosen("resnet18", {.last_layers = 1}), ElementsAre("fc.weight", "fc.bias"));
}

TEST(Select, RefusesWhatMatchesNothing) {
  EXPECT_THAT(selection_refusal({.freeze = {"layer.0.weight"}}), HasSubstr("no parameter matches 'layer.0.weight'"));
  EXPECT_THAT(selection_refusal({.freeze = {"layer.0.weight"}}), HasSubstr("did you mean 'layers.0.weight'?"));
  EXPECT_THAT(selection_refusal({.train = {"nothing*"}}), HasSubstr("--train"));
  EXPECT_THAT(selection_refusal({.freeze = {"*"}}), HasSubstr("every parameter is frozen"));
  EXPECT_THAT(selection_refusal({.last_layers = 0}), HasSubstr("at least 1"));
}

TEST(Select, RefusesANetworkWithoutParameters) {
  Graph graph;
  graph.name = "empty";
  const auto ids = select_trained(graph, {});
  ASSERT_FALSE(ids.has_value());
  EXPECT_THAT(ids.error().text(), HasSubstr("no parameters"));
}

}  // namespace
}  // namespace monet::training
