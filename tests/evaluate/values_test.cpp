// Networks, machines and plans as values: read once, shared, and the door that takes them.
#include "graph/network_graph.h"
#include "hardware/hardware.h"
#include "onnx/reader.h"
#include "support/folder.h"
#include "support/source_folder.h"

#include <monet/evaluate.h>
#include <monet/inspect.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace monet {
namespace {

using testing::HasSubstr;

TEST(Values, ANetworkIsReadOnceForEachChoiceOfItsSizes) {
  const Network network("mlp-robotics");
  const Network copy = network;
  const auto first = network.graph({.batch = 4});
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, *copy.graph({.batch = 4}));
  const auto other = copy.graph({.batch = 8});
  ASSERT_TRUE(other);
  EXPECT_NE(*first, *other);
  EXPECT_EQ(*other, *network.graph({.batch = 8}));
  // What is not asked for any more is given up; who has it keeps it.
  for (std::int64_t batch = 10; batch < 20; ++batch) ASSERT_TRUE(network.graph({.batch = batch}));
  const auto again = network.graph({.batch = 4});
  ASSERT_TRUE(again);
  EXPECT_NE(*first, *again);
  EXPECT_EQ((*first)->graph.nodes().size(), (*again)->graph.nodes().size());
}

TEST(Values, ThreadsShareWhatWasRead) {
  const Network network("lenet5");
  const Machine machine("edge_tpu");
  std::vector<std::shared_ptr<const NetworkGraph>> graphs(8);
  std::vector<std::shared_ptr<const Hardware>> machines(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        graphs[i] = *network.graph({.batch = 2});
        machines[i] = *machine.hardware();
      });
    }
  }
  for (std::size_t i = 1; i < 8; ++i) {
    EXPECT_EQ(graphs[i], graphs[0]);
    EXPECT_EQ(machines[i], machines[0]);
  }
}

TEST(Values, AMachineStaysWhatItWasWhenItsFileGoes) {
  const test::Folder folder;
  const std::string path = folder / "machine.yaml";
  std::filesystem::copy_file(test::source_folder() / "presets" / "monet_2x2.yaml", path);
  const auto machine = Machine::open(path);
  ASSERT_TRUE(machine) << machine.error().text();
  std::filesystem::remove(path);
  const auto result = evaluate(Step{"mlp-robotics", {.batch = 2}}, *machine);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->hardware, "monet_2x2");
  EXPECT_FALSE(Machine::open(path));
}

TEST(Values, TheDoorAnswersAsTheRequestDoes) {
  const Step step{"lenet5", {.batch = 2, .optimizer = "sgd"}};
  EvaluateOptions how;
  how.compare = false;
  const auto result = evaluate(step, {"edge_tpu", {{"x", "2"}}}, {}, how);
  ASSERT_TRUE(result) << result.error().text();
  StepRequest request{how};
  request.train = step.options;
  request.machine = {"edge_tpu", {{"x", "2"}}};
  const auto same = evaluate_network("lenet5", request);
  ASSERT_TRUE(same);
  EXPECT_EQ(result->latency_cycles, same->latency_cycles);
  EXPECT_EQ(result->energy_pj, same->energy_pj);
  const auto plan = plan_from(result->plan_yaml, "plan");
  ASSERT_TRUE(plan) << plan.error().text();
  const auto again = evaluate(step, {"edge_tpu", {{"x", "2"}}}, *plan, how);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(result->latency_cycles, again->latency_cycles);
  EXPECT_EQ(result->plan_yaml, again->plan_yaml);
  // The forward part alone takes less.
  const auto forward = evaluate(Step{"lenet5", {.batch = 2}, true}, {"edge_tpu", {{"x", "2"}}}, {}, how);
  ASSERT_TRUE(forward);
  EXPECT_LT(forward->latency_cycles, result->latency_cycles);
}

TEST(Values, APlanPutTogetherByHandIsCarriedOut) {
  const Step step{"mlp-robotics:layers=1", {.batch = 4}};
  Plan plan;
  EXPECT_TRUE(is_empty(plan));
  plan.operators.push_back({.name = "layers.0", .split = {{Dim::K, 2}}, .cores = {"pe0_0", "pe0_1"}});
  EXPECT_FALSE(is_empty(plan));
  const auto result = evaluate(step, "edge_tpu", plan);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(result->operators.front().cores, testing::ElementsAre("pe0_0", "pe0_1"));
  plan.operators.front().priority = std::numeric_limits<double>::quiet_NaN();
  const auto unordered = evaluate(step, "edge_tpu", plan);
  ASSERT_FALSE(unordered);
  EXPECT_THAT(unordered.error().text(), HasSubstr("priority of 'layers.0' is no number"));
  plan.operators.front() = {.name = "layers.0", .cores = {"nosuch"}};
  const auto refused = evaluate(step, "edge_tpu", plan);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("nosuch"));
}

TEST(Values, WhatIsNotGivenIsSaid) {
  const auto nothing = evaluate(Step{}, "edge_tpu");
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().text(), HasSubstr("no network is given"));
  const auto nowhere = evaluate(Step{"lenet5"}, Machine());
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().text(), HasSubstr("no machine is given"));
  EXPECT_FALSE(Network::open("nosuch"));
  EXPECT_FALSE(Network::open("lenet5", {.dimensions = {{"sequence", 4}}}));
}

}  // namespace
}  // namespace monet
