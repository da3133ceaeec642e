// Are the best known values of the public instances reached? The values are from the table beside the instances.
#include "remat/reader.h"
#include "remat/solve.h"
#include "support/shared.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace monet::remat {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Problem read_problem(const std::filesystem::path& path, const Device* device = nullptr) {
  auto graph = read_graph(text_of(path), path.string(), device);
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? std::move(graph->problem) : Problem{};
}

struct KnownBest {
  const char* file;
  double part, extra_percent;
  bool proven;
};

constexpr KnownBest rows[] = {
    {"VGG16_MLSys_256_224_224_3_train_nx.json", 0.9, 1.968, true},
    {"fcn_8_vgg_MLSys_32_416_608_3_train_nx.json", 0.9, 0.0294, true},
    {"fcn_8_vgg_MLSys_32_416_608_3_train_nx.json", 0.8, 0.1361, true},
    {"vgg_unet_MLSys_32_416_608_3_train_nx.json", 0.9, 1.129, true},
    {"vgg_unet_MLSys_32_416_608_3_train_nx.json", 0.8, 1.984, true},
    {"random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", 0.9, 0.789, false},
    {"random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", 0.8, 2.296, false},
};

TEST(RematInstances, ExtraTimeIsThatOfTheBestKnown) {
  MONET_SHARED_OR_SKIP(path, "reference/instances/remat");
  for (const KnownBest& row : rows) {
    const Problem problem = read_problem(path / row.file);
    const Goal goal{.budget =
                        static_cast<std::int64_t>(std::ceil(row.part * static_cast<double>(base_peak_bytes(problem))))};
    const Solution solution = solve(problem, goal, {.time_limit_s = 120});
    ASSERT_TRUE(solution.given) << row.file;
    EXPECT_EQ(solution.given->checked.fault, "") << row.file;
    const double extra = 100 * (solution.given->value.price / base_time(problem) - 1);
    EXPECT_LE(extra, row.extra_percent + 0.0006) << row.file << " " << row.part;
    if (row.proven) {
      EXPECT_TRUE(solution.proven) << row.file << " " << row.part;
      EXPECT_NEAR(extra, row.extra_percent, 0.0006) << row.file;
    }
  }
}

TEST(RematInstances, Vgg16DoesNotFitInto80Percent) {
  MONET_SHARED_OR_SKIP(path, "reference/instances/remat");
  const Problem problem = read_problem(path / "VGG16_MLSys_256_224_224_3_train_nx.json");
  const Goal goal{.budget = static_cast<std::int64_t>(0.8 * static_cast<double>(base_peak_bytes(problem)))};
  const Solution solution = solve(problem, goal, {});
  EXPECT_FALSE(solution.given);
  EXPECT_TRUE(solution.proven);
  EXPECT_NEAR(static_cast<double>(*solution.smallest_budget) / static_cast<double>(base_peak_bytes(problem)), 0.831,
              0.0005);
}

// POET's own model: transfers take no time. Its optimum, by its own program, is never beaten by less than nothing.
TEST(RematInstances, PoetsOptimumIsReached) {
  MONET_SHARED_OR_SKIP(path, "reference/instances/poet");
  struct Poet {
    const char *network, *device;
    std::int64_t budget;
    double energy_j;
  };
  for (const Poet& row :
       {Poet{"linear.json", "MKR1000", 5000, 0.10467864}, Poet{"linear.json", "m0", 4300, 0.10467864},
        Poet{"linear.json", "MKR1000", 4000, 0.10473012}, Poet{"linear.json", "mkr1000", 3600, 0.10485774},
        Poet{"transformer.json", "RPiNoCache", 34'000'000, 119.41913404},
        Poet{"transformer.json", "a72nocache", 32'000'000, 119.43748029}}) {
    const auto device = read_device(text_of(path / "chipsets.json"), "chipsets.json", row.device);
    ASSERT_TRUE(device) << device.error().text();
    const Problem problem = read_problem(path / row.network, &*device);
    Goal goal{.budget = row.budget, .objective = Objective::energy, .deadline = 2 * base_time(problem)};
    for (const bool transfers : {false, true}) {
      goal.transfers_take_time = transfers;
      const Solution solution = solve(problem, goal, {.time_limit_s = 120});
      ASSERT_TRUE(solution.given) << row.network;
      EXPECT_EQ(solution.given->checked.fault, "");
      EXPECT_LE(solution.given->checked.energy_j, row.energy_j + 5e-9 * std::ceil(row.energy_j)) << row.network;
      EXPECT_TRUE(solution.proven) << row.network << " " << row.budget;
    }
  }
}

}  // namespace
}  // namespace monet::remat
