// Cores that are described by what was measured on them.
#include "mapping/rate.h"

#include "evaluate/open/hardware.h"
#include "mapping/extract.h"
#include "mapping/random_cases.h"
#include "networks/builtin.h"
#include "support/shared.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace monet {
namespace {

using namespace test;

TEST(Rate, IsOperationsOverRate) {
  Rate rate;
  rate.operations_per_s[static_cast<std::size_t>(Count::mac)] = 4e9;
  rate.operations_per_s[static_cast<std::size_t>(Count::exp)] = 1e8;
  rate.energy_pj[static_cast<std::size_t>(Count::mac)] = 2;
  rate.energy_pj[static_cast<std::size_t>(Count::exp)] = 50;
  const Counts operations = counts_of({{Count::mac, 8000}, {Count::exp, 30}});
  const auto cost = rate_cost(rate, 1e9, operations, "fp32");
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->cycles, (8000 / 4e9 + 30 / 1e8) * 1e9);
  EXPECT_DOUBLE_EQ(cost->energy_pj, 8000 * 2 + 30 * 50);
  EXPECT_EQ(cost->macs, 8000);
  EXPECT_EQ(cost->bound_cycles, cost->cycles);
}

TEST(Rate, DependsOnThePrecision) {
  Rate rate;
  rate.operations_per_s.fill(1e9);
  rate.energy_pj.fill(3);
  rate.precisions = {{"fp32", 1, 1, ""}, {"int8", 4, 0.5, ""}};
  const Counts operations = counts_of({{Count::mac, 1000}});
  const auto slow = rate_cost(rate, 1e9, operations, "fp32");
  const auto fast = rate_cost(rate, 1e9, operations, "int8");
  ASSERT_TRUE(slow && fast);
  EXPECT_DOUBLE_EQ(slow->cycles, 4 * fast->cycles);
  EXPECT_DOUBLE_EQ(slow->energy_pj, 2 * fast->energy_pj);
}

// Software floating point: each kind is slower by a factor of its own.
TEST(Rate, MayStateKindsByPrecision) {
  const auto mac = static_cast<std::size_t>(Count::mac);
  Rate rate;
  rate.operations_per_s.fill(1e6);
  rate.energy_pj.fill(7);
  rate.precisions = {{"fp32", 1, 1, ""}, {"int8", 2, 0.5, ""}};
  rate.by_precision.resize(2);
  rate.by_precision[1].operations_per_s[mac] = 50e6;
  rate.by_precision[1].energy_pj[mac] = 0.25;
  const auto cost = rate_cost(rate, 1e6, counts_of({{Count::mac, 100}, {Count::add, 10}}), "int8");
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->cycles, 100 / 50.0 + 10 / 2.0);
  EXPECT_DOUBLE_EQ(cost->energy_pj, 100 * 0.25 + 10 * 7 * 0.5);
  const auto floating = rate_cost(rate, 1e6, counts_of({{Count::mac, 100}}), "fp32");
  ASSERT_TRUE(floating);
  EXPECT_DOUBLE_EQ(floating->cycles, 100);
  EXPECT_DOUBLE_EQ(floating->energy_pj, 700);
}

// A perceptron 32-256-256-256-8 on a Cortex-M0+: 288 cycles for each of the two operations of a MAC in software, as
// POET measured; as integers two loads, a product, a sum, an index and a share of the loop.
TEST(Rate, SoftwareFloatingPointOfAPerceptron) {
  const auto device = open_hardware("poet_mkr1000");
  const auto graph = build_builtin("mlp-robotics", 3);
  ASSERT_TRUE(device && graph);
  const double macs = 3 * (32.0 * 256 + 2 * 256 * 256 + 256 * 8);
  for (const auto& [precision, cycles_of_a_mac] : {std::pair{"fp32", 2 * 288.0}, {"int8", 7.75}}) {
    double cycles = 0, pj = 0;
    for (const Node& node : graph->nodes()) {
      for (const Problem& problem : problems_of(*graph, node, {.precision = precision, .products = {}})) {
        if (problem.per_point[Count::mac] == 0) continue;
        const auto cost =
            rate_cost(*device->cores[0].rate, device->clock_hz, operations_of(problem), problem.precision);
        ASSERT_TRUE(cost);
        cycles += cost->cycles;
        pj += cost->energy_pj;
      }
    }
    EXPECT_NEAR(cycles / (macs * cycles_of_a_mac), 1, 1e-12) << precision;
    EXPECT_NEAR(pj * 1e-12 / (0.066 * cycles / 48e6), 1, 1e-9) << precision;
  }
}

TEST(Rate, NamesWhatItCannotDo) {
  Rate rate;
  rate.operations_per_s[static_cast<std::size_t>(Count::mac)] = 1;
  const auto kind = rate_cost(rate, 1, counts_of({{Count::exp, 1}}), "fp32");
  ASSERT_FALSE(kind);
  EXPECT_EQ(kind.error().message, "the core has no rate for \"exp\"");
  rate.precisions = {{"int8", 1, 1, ""}};
  const auto precision = rate_cost(rate, 1, counts_of({{Count::mac, 1}}), "fp32");
  ASSERT_FALSE(precision);
  EXPECT_EQ(precision.error().message, "the core has no rate for fp32");
}

TEST(Rate, CountsAllPointsOfAProblem) { EXPECT_EQ(operations_of(matmul(2, 3, 5, 7))[Count::mac], 210); }

nlohmann::json read_json(const std::filesystem::path& name) {
  std::ifstream file(name);
  return nlohmann::json::parse(file);
}

// POET (Apache-2.0, github.com/ShishirPatil/poet): time = flop / FLOPS, energy = flop / FLOPS_PER_WATT.
TEST(Rate, GivesTheTimesAndEnergiesOfPoet) {
  MONET_SHARED_OR_SKIP(path, "reference/instances/poet");
  const auto devices = read_json(path / "chipsets.json")["devices"];
  std::size_t usable = 0;
  for (const auto& [name, device] : devices.items()) {
    if (!device.contains("FLOPS")) continue;
    ++usable;
    const double flops = device["FLOPS"], per_joule = device["FLOPS_PER_WATT"];
    Rate rate;
    rate.operations_per_s.fill(flops);
    rate.energy_pj.fill(1e12 / per_joule);
    for (const char* network : {"linear", "transformer", "vgg16_cifar", "resnet18_cifar"}) {
      double seconds = 0, joules = 0, all_seconds = 0, all_joules = 0;
      const auto graph = read_json(path / (std::string(network) + ".json"));
      for (const auto& node : graph["nodes"]) {
        const double flop = node["flop"];
        const auto cost = rate_cost(rate, 1e9, counts_of({{Count::add, static_cast<std::int64_t>(flop)}}), "fp32");
        ASSERT_TRUE(cost);
        EXPECT_NEAR(cost->cycles / 1e9, flop / flops, 1e-14 * flop / flops) << name << ' ' << network;
        EXPECT_NEAR(cost->energy_pj / 1e12, flop / per_joule, 1e-14 * flop / per_joule) << name << ' ' << network;
        seconds += cost->cycles / 1e9;
        joules += cost->energy_pj / 1e12;
        all_seconds += flop / flops;
        all_joules += flop / per_joule;
      }
      EXPECT_NEAR(seconds, all_seconds, 1e-12 * all_seconds);
      EXPECT_NEAR(joules, all_joules, 1e-12 * all_joules);
    }
  }
  EXPECT_EQ(usable, 4U);
}

}  // namespace
}  // namespace monet
