#include "fabric/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace monet {
namespace {

FabricLevel plain_level(const char* name, std::int64_t chips, FabricKind kind = FabricKind::switched) {
  FabricLevel level{.name = name, .chips = chips, .kind = kind};
  level.bytes_per_s = 1e9;
  return level;
}

Fabric two_levels() { return {{plain_level("nvlink", 8), plain_level("ib", any_chips)}}; }

TEST(FabricMesh, AsManyChipsAsAreAskedFor) {
  const auto of = [](std::int64_t chips) { return *with_chips(two_levels(), chips); };
  EXPECT_EQ(of(4).levels.size(), 1U);  // a node in part
  EXPECT_EQ(of(4).levels[0].chips, 8);
  EXPECT_EQ(of(8).levels.size(), 1U);
  EXPECT_EQ(of(64).levels.size(), 2U);
  EXPECT_EQ(of(64).levels[1].chips, 64);
  EXPECT_EQ(two_levels().chips(), std::nullopt);
  EXPECT_EQ(of(64).chips(), 64);
}

TEST(FabricMesh, ToriOfAnySizeAreAsEqualAsTheyCanBe) {
  Fabric pod{{plain_level("ici", any_chips, FabricKind::torus)}};
  pod.levels[0].dimensions = 3;
  const auto sizes = [&](std::int64_t chips) { return with_chips(pod, chips)->levels[0].sizes; };
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(sizes(64), (Sizes{4, 4, 4}));
  EXPECT_EQ(sizes(128), (Sizes{4, 4, 8}));
  EXPECT_EQ(sizes(4096), (Sizes{16, 16, 16}));
  EXPECT_EQ(sizes(7), (Sizes{1, 1, 7}));
  pod.levels[0].dimensions = 2;
  EXPECT_EQ(sizes(12), (Sizes{3, 4}));
}

TEST(FabricMesh, WhatCannotBe) {
  const auto message = [](const Fabric& fabric, std::int64_t chips) {
    return with_chips(fabric, chips).error().text();
  };
  EXPECT_NE(message(two_levels(), 12).find("12 chips do not fill units of 8"), std::string::npos);
  EXPECT_NE(message(two_levels(), 12).find("take 8, or another multiple of 8"), std::string::npos);
  EXPECT_NE(message(two_levels(), 0).find("there cannot be 0 chips"), std::string::npos);
  const Fabric small{{plain_level("bus", 4)}};
  EXPECT_NE(message(small, 8).find("the fabric has 4 chips, not 8"), std::string::npos);

  const Fabric fabric = *with_chips(two_levels(), 48);
  const std::array<std::size_t, 1> inner = {1};
  const auto uneven = group_shape(fabric, {{{"dp", 8}, {"tp", 6}}}, inner);
  ASSERT_FALSE(uneven);
  EXPECT_NE(uneven.error().text().find("the axis tp of 6 does not lie evenly on the level 'nvlink' of 8 chips"),
            std::string::npos);
}

TEST(FabricMesh, NeighboursAreInside) {
  const Fabric fabric = *with_chips(two_levels(), 64);
  const Mesh mesh{{{"dp", 4}, {"pp", 4}, {"tp", 4}}};
  const auto of = [&](std::vector<std::size_t> axes) { return *group_shape(fabric, mesh, axes); };
  EXPECT_EQ(of({2}).spans[0], (GroupSpan{4, 4}));  // tp: half a node
  EXPECT_EQ(of({2}).spans[1], (GroupSpan{1, 1}));
  EXPECT_EQ(of({1}).spans[0], (GroupSpan{2, 8}));  // pp: two in a node, in two nodes
  EXPECT_EQ(of({1}).spans[1], (GroupSpan{2, 2}));
  EXPECT_EQ(of({0}).spans[0], (GroupSpan{1, 1}));  // dp: every second node
  EXPECT_EQ(of({0}).spans[1], (GroupSpan{4, 8}));
  EXPECT_EQ(of({0, 2}).chips(), 16);
  EXPECT_EQ(chips_under(fabric, of({0, 2}), 0), 4);
  EXPECT_EQ(mesh.find("pp"), 1U);
  EXPECT_EQ(mesh.find("ep"), std::nullopt);
  EXPECT_EQ(whole_group(fabric, 64)->chips(), 64);
}

// The group of chip 0, chip by chip: how many of it lie under each unit.
TEST(FabricMesh, CountsAreThoseOfTheChips) {
  std::mt19937 random(7);
  const auto pick = [&](std::vector<std::int64_t> of) { return of[random() % of.size()]; };
  int looked_at = 0;
  for (int round = 0; round < 400; ++round) {
    Fabric fabric;
    std::int64_t chips = 1;
    for (int l = 0; l < 3; ++l) fabric.levels.push_back(plain_level("x", chips *= pick({2, 3, 4})));
    Mesh mesh;
    for (std::int64_t left = chips; left > 1;) {
      const std::int64_t size = pick({1, 2, 3, 4, 6});
      if (left % size != 0) continue;
      mesh.axes.push_back({"a" + std::to_string(mesh.axes.size()), size});
      left /= size;
    }
    std::vector<std::size_t> axes;
    for (std::size_t a = 0; a < mesh.axes.size(); ++a)
      if (random() % 2 == 0) axes.push_back(a);
    const auto shape = group_shape(fabric, mesh, axes);
    if (!shape) continue;
    ++looked_at;
    for (std::size_t l = 0; l < 3; ++l) {
      std::map<std::int64_t, std::int64_t> under;
      for (std::int64_t chip = 0; chip < chips; ++chip) {
        std::int64_t rest = chip;
        bool member = true;
        for (std::size_t a = mesh.axes.size(); a-- > 0;) {
          const bool free = std::find(axes.begin(), axes.end(), a) != axes.end();
          if (!free && rest % mesh.axes[a].size != 0) member = false;
          rest /= mesh.axes[a].size;
        }
        if (member) ++under[chip / fabric.levels[l].chips];
      }
      for (const auto& [unit, count] : under) EXPECT_EQ(count, chips_under(fabric, *shape, l));
    }
  }
  EXPECT_GT(looked_at, 100);
}

}  // namespace
}  // namespace monet
