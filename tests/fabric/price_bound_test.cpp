// What holds of every price, on random fabrics.
#include "fabric/price.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace monet {
namespace {

class RandomFabric {
 public:
  explicit RandomFabric(unsigned seed) : random_(seed) {}

  std::int64_t pick(std::vector<std::int64_t> of) { return of[random_() % of.size()]; }
  bool heads() { return random_() % 2 == 0; }
  double between(double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<double>()(random_));
  }

  Fabric fabric() {
    Fabric fabric;
    std::int64_t chips = 1;
    const std::int64_t levels = pick({1, 2, 3});
    for (std::int64_t l = 0; l < levels; ++l) {
      FabricLevel level{.name = "level"};
      level.kind = static_cast<FabricKind>(pick({0, 0, 1, 2, 3}));
      if (level.kind == FabricKind::torus) {
        for (std::int64_t d = pick({1, 2, 3}); d > 0; --d) level.sizes.push_back(pick({2, 3, 4, 8}));
        for (const std::int64_t size : level.sizes) chips *= size;
      } else {
        chips *= pick({2, 3, 4, 8, 16});
      }
      level.chips = chips;
      level.bytes_per_s = between(1e8, 1e12);
      level.latency_s = heads() ? between(1e-7, 1e-4) : 0;
      level.start_s = heads() ? between(1e-7, 1e-4) : 0;
      level.reduces = level.kind == FabricKind::switched && heads();
      level.oversubscription = heads() ? between(1, 8) : 1;
      level.energy_pj_per_bit = 1;
      if (heads()) level.efficiency = {{1e4, between(0.01, 0.5)}, {1e8, between(0.5, 1)}};
      if (level.reduces && heads()) level.efficiency_in_switch = {{1e6, between(0.1, 1)}};
      fabric.levels.push_back(level);
    }
    return fabric;
  }

 private:
  std::mt19937 random_;
};

TEST(PriceBound, LiesBelowEveryAlgorithmAndTheBestIsTheLeast) {
  int priced = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomFabric random(seed);
    const Fabric fabric = random.fabric();
    const std::int64_t chips = fabric.levels.back().chips;
    Mesh mesh;
    for (std::int64_t left = chips; left > 1;) {
      const std::int64_t size = random.pick({2, 3, 4, 8, left});
      if (left % size != 0) continue;
      mesh.axes.push_back({"a", size});
      left /= size;
    }
    std::vector<std::size_t> axes;
    for (std::size_t a = 0; a < mesh.axes.size(); ++a)
      if (random.heads()) axes.push_back(a);
    const auto group = group_shape(fabric, mesh, axes);
    if (!group) continue;
    const double bytes = random.between(1, 1e10);
    for (std::size_t k = 0; k < collective_kind_count; ++k) {
      const Collective collective{static_cast<CollectiveKind>(k), bytes, *group};
      const CollectivePrice best = price(fabric, collective);
      double least = group->chips() > 1 ? std::numeric_limits<double>::infinity() : 0;
      for (const CollectiveAlgorithm algorithm : algorithms_of(fabric, collective)) {
        const auto one = price(fabric, collective, algorithm);
        ASSERT_TRUE(one);
        ++priced;
        EXPECT_LE(one->bound_seconds, one->seconds * (1 + 1e-12))
            << seed << " " << name_of(collective.kind) << " " << name_of(algorithm);
        least = std::min(least, one->seconds);
        double longest = 0;
        for (const double seconds : one->level_seconds) longest = std::max(longest, seconds);
        EXPECT_LE(longest, one->seconds * (1 + 1e-12));
      }
      EXPECT_LE(best.seconds, least * (1 + 1e-12)) << seed << " " << name_of(collective.kind);
      EXPECT_GE(best.bound_seconds, 0);
      // More bytes take no less time, and a wider level no more.
      const Collective more{collective.kind, bytes * 1.5, *group};
      EXPECT_GE(price(fabric, more).seconds, best.seconds * (1 - 1e-9)) << seed << " " << name_of(collective.kind);
      Fabric wide = fabric;
      for (FabricLevel& level : wide.levels) level.bytes_per_s *= 2;
      EXPECT_LE(price(wide, collective).seconds, best.seconds * (1 + 1e-9));
    }
  }
  EXPECT_GT(priced, 10000);
}

// The same price for each of so many groups, and no more work.
TEST(PriceBound, ChipsAreANumber) {
  FabricLevel node{.name = "node", .chips = 8};
  node.bytes_per_s = 4e11;
  node.latency_s = 1e-6;
  FabricLevel net{.name = "net", .chips = any_chips};
  net.bytes_per_s = 5e10;
  net.latency_s = 4e-6;
  const Fabric fabric{{node, net}};
  const std::array<std::size_t, 1> tp = {1};
  const auto of = [&](std::int64_t chips) {
    const Fabric made = *with_chips(fabric, chips);
    return price(made, {CollectiveKind::all_reduce, 1e8, *group_shape(made, {{{"dp", chips / 16}, {"tp", 16}}}, tp)});
  };
  EXPECT_EQ(of(64).seconds, of(std::int64_t{1} << 20).seconds);
}

}  // namespace
}  // namespace monet
