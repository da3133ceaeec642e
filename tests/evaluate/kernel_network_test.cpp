// Do launches and collectives keep their order, and is what is waited for counted once?
#include "evaluate/kernels/kernel_network.h"

#include "graph/builder.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

// 1 GB/s and no latency: an all-reduce of S bytes over two chips takes S ns.
Hardware two_chips(double chip_share = 0) {
  Hardware hardware;
  hardware.name = "pair";
  FabricLevel level{.name = "wire", .chips = 2};
  level.bytes_per_s = 1e9;
  level.chip_share = chip_share;
  hardware.fabric = Fabric{{level}};
  return hardware;
}

ChipNetwork network(bool overlap, double chip_share = 0) {
  auto made = network_of(two_chips(chip_share), {{{"dp", 2}}}, overlap);
  EXPECT_TRUE(made.has_value()) << made.error().text();
  return *std::move(made);
}

// a: a launch makes x (buffer 0), which is summed to y (1); another touches neither; the last reads y.
struct Example {
  Graph graph;
  LoweredStep step;
  StepCosts costs;

  Example() {
    GraphBuilder builder("example");
    const TensorId input = builder.input("input", {2500});
    const TensorId x = builder.add(Op::Relu, "make", {input});
    const Attributes of_group = {
        {Attr::mesh, std::string("dp")}, {Attr::group, std::int64_t{2}}, {Attr::reduction, std::string("sum")}};
    const TensorId y = builder.add(Op::AllReduce, "sum", {x}, of_group);
    builder.add(Op::Relu, "other", {input});
    builder.add(Op::Relu, "read", {y});
    graph = *builder.finish();
    step.buffers = {{.bytes = 10000}, {.bytes = 10000}, {.bytes = 10000}};
    const auto touch = [](std::size_t buffer) { return Touch{AllocationId(buffer), 10000}; };
    for (std::size_t i = 0; i < 4; ++i)
      step.launches.push_back({.phase = Phase::forward, .cause = NodeId(i), .nodes = {NodeId(i)}});
    step.launches[0].writes = {touch(0)};
    step.launches[1].reads = {touch(0)};
    step.launches[1].writes = {touch(1)};
    step.launches[1].collective = true;
    step.launches[2].writes = {touch(2)};
    step.launches[3].reads = {touch(1)};
    costs.us = {5, 1, 4, 3};
    costs.mj = {0, 0, 0, 0};
    costs.total_us = 13;
  }
};

TEST(KernelNetwork, CollectivesRunBesideLaunches) {
  Example example;
  const ChipNetwork pair = network(true);
  const LaunchTimes times = times_of(example.graph, example.step, example.costs, &pair);
  EXPECT_NEAR(example.costs.us[1], 10, 1e-9);  // 10,000 bytes
  EXPECT_NEAR(times.start_us[1], 5, 1e-9);
  EXPECT_NEAR(times.start_us[2], 5, 1e-9);
  EXPECT_NEAR(times.start_us[3], 15, 1e-9);
  EXPECT_NEAR(times.exchanges[0].exposed_us, 6, 1e-9);
  EXPECT_NEAR(times.total_us, 18, 1e-9);
  EXPECT_NEAR(example.costs.total_us, 22, 1e-9);
}

TEST(KernelNetwork, NothingRunsBesideThemWithoutOverlap) {
  Example example;
  const ChipNetwork pair = network(false);
  const LaunchTimes times = times_of(example.graph, example.step, example.costs, &pair);
  EXPECT_NEAR(times.exchanges[0].exposed_us, 10, 1e-9);
  EXPECT_NEAR(times.total_us, 22, 1e-9);
}

TEST(KernelNetwork, CollectivesTakeAPartOfTheChip) {
  Example example;
  const ChipNetwork pair = network(true, 0.5);
  const LaunchTimes times = times_of(example.graph, example.step, example.costs, &pair);
  EXPECT_NEAR(times.end_us[2], 13, 1e-9);  // half as fast
  EXPECT_NEAR(times.total_us, 18, 1e-9);
  EXPECT_NEAR(times.exchanges[0].exposed_us, 2, 1e-9);
}

TEST(KernelNetwork, OneLevelIsUsedByOneCollectiveAtATime) {
  Example example;
  example.step.launches[2].collective = true;
  Node& other = example.graph[NodeId(2)];
  other.op = Op::AllReduce;
  other.attributes = example.graph[NodeId(1)].attributes;
  const ChipNetwork pair = network(true);
  const LaunchTimes times = times_of(example.graph, example.step, example.costs, &pair);
  EXPECT_NEAR(times.start_us[2], 15, 1e-9);
  EXPECT_NEAR(times.total_us, 25, 1e-9);  // the last launch is done at 18
}

TEST(KernelNetwork, AMachineNeedsAFabric) {
  Hardware alone;
  alone.name = "alone";
  const auto none = network_of(alone, {{{"dp", 2}}}, true);
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().text().find("does not say what joins its chips"), std::string::npos);
}

}  // namespace
}  // namespace monet
