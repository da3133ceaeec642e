// Cores that are described by what was measured on them.
#include "mapping/rate.h"

#include "mapping/random_cases.h"
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
