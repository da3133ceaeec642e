// Tori and several levels message by message; the rest of the prices by closed forms.
#include "fabric/algorithms.h"
#include "fabric/price.h"

#include <gtest/gtest.h>

#include <numeric>

namespace monet {
namespace {

using namespace simulated;
using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

constexpr double whole_buffer = 4.8e6;

FabricLevel made_level(FabricKind kind, std::int64_t chips, double gigabytes, double microseconds,
                       std::vector<std::int64_t> sizes = {}) {
  FabricLevel level{.name = "level", .chips = chips, .kind = kind, .sizes = std::move(sizes)};
  level.bytes_per_s = gigabytes * 1e9;
  level.latency_s = microseconds * 1e-6;
  return level;
}

// One dimension of all chips: how many positions, and how far apart they lie.
struct Axis {
  int positions, stride;
  FabricKind kind;
};

std::vector<Axis> axes_of(const Fabric& fabric) {
  std::vector<Axis> axes;
  int stride = 1;
  for (const FabricLevel& level : fabric.levels) {
    std::vector<std::int64_t> sizes = level.sizes;
    if (level.kind != FabricKind::torus) sizes = {level.chips / stride};
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
      axes.push_back({static_cast<int>(*size), stride, level.kind});
      stride *= static_cast<int>(*size);
    }
  }
  return axes;
}

int chips_of(const Fabric& fabric) { return static_cast<int>(fabric.levels.back().chips); }

// All rows of chips along one dimension.
std::vector<Row> rows_along(const Fabric& fabric, const Axis& axis) {
  std::vector<Row> rows;
  for (int chip = 0; chip < chips_of(fabric); ++chip) {
    if (chip / axis.stride % axis.positions != 0) continue;
    std::vector<int> members;
    for (int i = 0; i < axis.positions; ++i) members.push_back(chip + i * axis.stride);
    rows.push_back(ported(members));  // neighbours are joined directly, the last to the first too
  }
  return rows;
}

// Every chip owns one shard of `each` items; `shard_of` a chip. Along one dimension, what lies on the other coordinates
// stays: the items for the member at position i are those of all owners that agree with the row in the dimensions that
// are done, and have i in this one.
class WholeMachine {
 public:
  WholeMachine(const Fabric& fabric, int parts)
      : fabric_(fabric),
        axes_(axes_of(fabric)),
        chips_(chips_of(fabric)),
        machine_(fabric, chips_, 2 * parts * chips_, whole_buffer / 2 / parts / chips_) {
    for (int chip = 0; chip < chips_; ++chip)
      for (int item = 0; item < machine_.items(); ++item) machine_.held(chip, item) = 1U << chip;
  }

  Machine& machine() { return machine_; }
  const std::vector<Axis>& axes() const { return axes_; }

  // `done`: dimensions along which the buffer is scattered already.
  Steps along(std::size_t axis, int part, const std::vector<std::size_t>& done, bool adds) const {
    std::vector<Steps> all;
    const bool linked = axes_[axis].kind == FabricKind::ring || axes_[axis].kind == FabricKind::torus;
    for (const Row& row : rows_along(fabric_, axes_[axis])) {
      Shards shards(row.members.size());
      for (int owner = 0; owner < chips_; ++owner) {
        bool agrees = true;
        for (const std::size_t other : done) agrees = agrees && at(owner, other) == at(row.members[0], other);
        if (!agrees) continue;
        for (int half = 0; half < 2; ++half) shards[at(owner, axis)].push_back((part * chips_ + owner) * 2 + half);
      }
      all.push_back(linked ? both_ways(row, shards, adds) : one_way(row, shards, true, adds));
    }
    return beside(all);
  }

  bool all_is_summed() {
    for (int chip = 0; chip < chips_; ++chip)
      for (int item = 0; item < machine_.items(); ++item)
        if (machine_.held(chip, item) != (1U << chips_) - 1) return false;
    return !machine_.wrong();
  }
  bool own_is_summed() {
    for (int chip = 0; chip < chips_; ++chip)
      for (int item = 0; item < machine_.items(); ++item)
        if (item / 2 % chips_ == chip && machine_.held(chip, item) != (1U << chips_) - 1) return false;
    return !machine_.wrong();
  }

 private:
  int at(int chip, std::size_t axis) const { return chip / axes_[axis].stride % axes_[axis].positions; }

  const Fabric& fabric_;
  std::vector<Axis> axes_;
  int chips_;
  Machine machine_;
};

// Parts in turn along other dimensions; they use other links, so each step lasts as long as the slowest part.
double torus_step(WholeMachine& world, std::size_t step, bool adds) {
  const std::size_t parts = world.axes().size();
  double slowest = 0;
  std::set<std::tuple<int, int, int>> used;
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<std::size_t> done;
    for (std::size_t before = 0; before < step; ++before) done.push_back((part + before) % parts);
    world.machine().used.clear();
    const Steps steps = world.along((part + step) % parts, static_cast<int>(part), done, adds);
    slowest = std::max(slowest, world.machine().run(steps));
    for (const auto& link : world.machine().used) EXPECT_TRUE(used.insert(link).second);
  }
  return slowest;
}

TEST(PriceLevels, ToriUseAllDimensionsAtOnce) {
  const std::vector<std::vector<std::int64_t>> all = {{4, 4}, {3, 5}, {2, 4}, {2, 2, 2}, {2, 2, 3}, {2, 2, 4}, {5, 2}};
  for (const std::vector<std::int64_t>& sizes : all) {
    const std::int64_t chips = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
    const Fabric fabric{{made_level(FabricKind::torus, chips, 6, 1, sizes)}};
    WholeMachine world(fabric, static_cast<int>(sizes.size()));
    double scatter = 0, gather = 0;
    for (std::size_t step = 0; step < sizes.size(); ++step) scatter += torus_step(world, step, true);
    EXPECT_TRUE(world.own_is_summed());
    const double scattered_bytes = world.machine().bytes(0);
    for (std::size_t step = sizes.size(); step-- > 0;) gather += torus_step(world, step, false);
    EXPECT_TRUE(world.all_is_summed());
    const GroupShape group = *whole_group(fabric, chips);
    const auto seconds = [&](Kind kind) {
      return price(fabric, {kind, whole_buffer, group}, Algorithm::ring)->seconds;
    };
    EXPECT_NEAR(seconds(Kind::reduce_scatter) / scatter, 1, 1e-9);
    EXPECT_NEAR(seconds(Kind::all_gather) / gather, 1, 1e-9);
    EXPECT_NEAR(seconds(Kind::all_reduce) / (scatter + gather), 1, 1e-9);
    const auto priced = price(fabric, {Kind::reduce_scatter, whole_buffer, group}, Algorithm::ring);
    EXPECT_NEAR(priced->bytes[0], scattered_bytes / static_cast<double>(chips), 1);
  }
}

// Inside, between, inside again: a level after the other.
TEST(PriceLevels, HierarchicalSums) {
  const auto level = made_level;
  const std::vector<Fabric> all = {
      {{level(FabricKind::switched, 4, 6, 1, {}), level(FabricKind::switched, 16, 1, 4, {})}},
      {{level(FabricKind::ring, 4, 6, 1, {}), level(FabricKind::switched, 12, 1, 4, {})}},
      {{level(FabricKind::switched, 3, 2, 1, {}), level(FabricKind::ring, 15, 1, 4, {})}},
      {{level(FabricKind::ring, 2, 6, 1, {}), level(FabricKind::ring, 4, 6, 1, {}),
        level(FabricKind::switched, 12, 1, 7, {})}},
  };
  for (Fabric fabric : all) {
    // Of a ring and its like, so that the simulator knows which is chosen.
    for (FabricLevel& each : fabric.levels) each.algorithms = {Algorithm::ring};
    WholeMachine world(fabric, 1);
    double scatter = 0, gather = 0;
    std::vector<std::size_t> done;
    for (std::size_t axis = 0; axis < world.axes().size(); ++axis) {
      scatter += world.machine().run(world.along(axis, 0, done, true));
      done.push_back(axis);
    }
    EXPECT_TRUE(world.own_is_summed());
    for (std::size_t axis = world.axes().size(); axis-- > 0;) {
      done.pop_back();
      gather += world.machine().run(world.along(axis, 0, done, false));
    }
    EXPECT_TRUE(world.all_is_summed());
    const Collective sum{Kind::all_reduce, whole_buffer, *whole_group(fabric, chips_of(fabric))};
    const auto priced = price(fabric, sum, Algorithm::hierarchical);
    ASSERT_TRUE(priced);
    EXPECT_NEAR(priced->seconds / (scatter + gather), 1, 1e-9);
    for (std::size_t l = 0; l < fabric.levels.size(); ++l)
      EXPECT_NEAR(priced->bytes[l], world.machine().bytes(l) / chips_of(fabric), 1);
    const auto half = price(fabric, {Kind::reduce_scatter, whole_buffer, sum.group}, Algorithm::hierarchical);
    EXPECT_NEAR(half->seconds / scatter, 1, 1e-9);
  }
}

TEST(PriceLevels, OneRingThroughAllAndEverybodyToEverybody) {
  const Fabric fabric{{made_level(FabricKind::switched, 4, 6, 1), made_level(FabricKind::full, 12, 2, 4)}};
  const int n = 12;
  std::vector<int> chips(n);
  std::iota(chips.begin(), chips.end(), 0);
  Shards shards(n);
  for (int i = 0; i < n; ++i) shards[i] = {i};
  const GroupShape group = *whole_group(fabric, n);
  const auto run = [&](const Steps& steps, const char* what, Kind kind, Algorithm algorithm, bool at_once) {
    Machine machine(fabric, n, n, whole_buffer / n);
    for (int i = 0; i < n; ++i)
      for (int item = 0; item < n; ++item) machine.held(i, item) = 1U << i;
    double seconds = 0;
    if (at_once) {  // no chip waits for another
      Step all;
      for (const Step& step : steps) all.insert(all.end(), step.begin(), step.end());
      seconds = machine.run(all);
    } else {
      seconds = machine.run(steps);
    }
    EXPECT_FALSE(machine.wrong()) << what;
    for (int i = 0; i < n; ++i) EXPECT_EQ(machine.held(i, i), (1U << n) - 1) << what;
    const auto priced = price(fabric, {kind, whole_buffer, group}, algorithm);
    ASSERT_TRUE(priced) << what;
    EXPECT_NEAR(priced->seconds / seconds, 1, 1e-9) << what;
    for (std::size_t l = 0; l < 2; ++l) EXPECT_NEAR(priced->bytes[l], machine.bytes(l) / n, 1) << what;
  };
  run(one_way(ported(chips), shards, true, true), "ring", Kind::reduce_scatter, Algorithm::ring, false);
  run(direct(chips, shards, true, false), "direct", Kind::reduce_scatter, Algorithm::direct, true);
}

TEST(PriceLevels, SendsTakeOneMessageOverTheOutermostLevel) {
  const Fabric fabric{{made_level(FabricKind::switched, 4, 8, 1), made_level(FabricKind::switched, 16, 2, 5)}};
  const Mesh mesh{{{"pp", 8}, {"tp", 2}}};
  const std::array<std::size_t, 1> pp = {0}, tp = {1};
  const auto along_pp = price(fabric, {Kind::send, 1e6, *group_shape(fabric, mesh, pp)});
  EXPECT_DOUBLE_EQ(along_pp.seconds, 5e-6 + 1e6 / 2e9);
  EXPECT_NEAR(along_pp.bytes[0] * 8, 4e6, 1e-3);  // stages 0-1, 2-3 … inside
  EXPECT_NEAR(along_pp.bytes[1] * 8, 3e6, 1e-3);
  const auto along_tp = price(fabric, {Kind::send, 1e6, *group_shape(fabric, mesh, tp)});
  EXPECT_DOUBLE_EQ(along_tp.seconds, 1e-6 + 1e6 / 8e9);
  EXPECT_EQ(price(fabric, {Kind::all_reduce, 1e6, {}}).seconds, 0);  // of one chip
}

// The published two-level example: 8 x 4 chips, 300 and 25 GB/s, 1 GB.
TEST(PriceLevels, AsByHand) {
  const Fabric fabric{{made_level(FabricKind::switched, 8, 300, 0), made_level(FabricKind::switched, 32, 25, 0)}};
  const Collective sum{Kind::all_reduce, 1e9, *whole_group(fabric, 32)};
  EXPECT_NEAR(price(fabric, sum, Algorithm::hierarchical)->seconds, 1.75 / 300 + 1.5 / 8 / 25, 1e-12);
  const auto best = price(fabric, sum);
  EXPECT_EQ(best.algorithm, Algorithm::hierarchical);
  EXPECT_NEAR(best.bytes[0], 1.75e9, 1);
  EXPECT_NEAR(best.bytes[1], 1.5e9 / 8, 1);
  Fabric narrow = fabric;
  narrow.levels[1].oversubscription = 4;
  narrow.levels[1].energy_pj_per_bit = 10;
  narrow.levels[1].start_s = 1e-3;
  const auto slow = price(narrow, sum);
  EXPECT_NEAR(slow.seconds, 1e-3 + 1.75 / 300 + 4 * 1.5 / 8 / 25, 1e-12);
  EXPECT_NEAR(slow.energy_pj, 32 * 1.5e9 / 8 * 8 * 10, 1);
}

TEST(PriceLevels, SharesOfTheWidthBySize) {
  Fabric fabric{{made_level(FabricKind::switched, 2, 10, 0)}};
  fabric.levels[0].reduces = true;
  fabric.levels[0].efficiency = {{1e6, 0.1}, {1e8, 0.4}};
  fabric.levels[0].efficiency_in_switch = {{1e6, 0.5}};
  const GroupShape pair = *whole_group(fabric, 2);
  const auto seconds = [&](double bytes, Algorithm algorithm) {
    return price(fabric, {Kind::all_reduce, bytes, pair}, algorithm)->seconds;
  };
  EXPECT_NEAR(seconds(1e5, Algorithm::ring), 1e5 / 1e9, 1e-15);
  EXPECT_NEAR(seconds(1e6, Algorithm::ring), 1e6 / 1e9, 1e-15);
  EXPECT_NEAR(seconds(1e7, Algorithm::ring), 1e7 / 2e9, 1e-15);
  EXPECT_NEAR(seconds(1e9, Algorithm::ring), 1e9 / 4e9, 1e-15);
  EXPECT_NEAR(seconds(1e7, Algorithm::in_switch), 1e7 / 5e9, 1e-15);
  fabric.levels[0].algorithms = {Algorithm::tree};
  EXPECT_FALSE(price(fabric, {Kind::all_reduce, 1e6, pair}, Algorithm::in_switch));
  EXPECT_TRUE(price(fabric, {Kind::all_reduce, 1e6, pair}, Algorithm::ring));
}

}  // namespace
}  // namespace monet
