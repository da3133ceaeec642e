// Every algorithm message by message on up to 16 chips: the data end where they must, in the time that the formula
// says.
#include "fabric/algorithms.h"
#include "fabric/price.h"

#include <gtest/gtest.h>

#include <numeric>

namespace monet {
namespace {

using namespace simulated;
using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

constexpr double width = 3e9, latency = 2e-6, buffer = 6.4e6;
constexpr double small_buffer = 1.6e4;  // of which the best number of pieces is small

FabricLevel level_of(FabricKind kind, std::int64_t chips, std::vector<std::int64_t> sizes = {}) {
  FabricLevel level{.name = "level", .chips = chips, .kind = kind, .sizes = std::move(sizes)};
  level.bytes_per_s = width;
  level.latency_s = latency;
  return level;
}

std::vector<int> first_chips(int n) {
  std::vector<int> chips(n);
  std::iota(chips.begin(), chips.end(), 0);
  return chips;
}

// `each` items for each of n members.
Shards shards_of(int n, int each) {
  Shards shards(n);
  for (int i = 0; i < n * each; ++i) shards[i / each].push_back(i);
  return shards;
}

// What members hold before, and whether they hold what they must afterwards.
class Data {
 public:
  Data(Machine& machine, std::vector<std::vector<int>> groups) : machine_(machine), groups_(std::move(groups)) {}

  void everybody_has_a_summand() {
    for (const auto& group : groups_)
      for (std::size_t i = 0; i < group.size(); ++i)
        for (int item = 0; item < machine_.items(); ++item) machine_.held(group[i], item) = 1U << i;
  }
  void everybody_has_its_shard(const Shards& shards) {
    for (const auto& group : groups_)
      for (std::size_t i = 0; i < group.size(); ++i)
        for (const int item : shards[i]) machine_.held(group[i], item) = 1U << i;
  }
  void the_first_has_all() {
    for (const auto& group : groups_)
      for (int item = 0; item < machine_.items(); ++item) machine_.held(group[0], item) = 1;
  }
  bool shards_are_summed(const Shards& shards) {
    return holds(shards, true, [](auto n, auto) { return (1U << n) - 1; });
  }
  bool all_is_summed(const Shards& shards) {
    return holds(shards, false, [](auto n, auto) { return (1U << n) - 1; });
  }
  bool all_is_gathered(const Shards& shards) {
    return holds(shards, false, [](auto, auto j) { return 1U << j; });
  }
  bool all_is_copied(const Shards& shards) {
    return holds(shards, false, [](auto, auto) { return 1U; });
  }

  void exchange_begins(const Between& items_of) {
    for (const auto& group : groups_)
      for (int i = 0; i < static_cast<int>(group.size()); ++i)
        for (int j = 0; j < static_cast<int>(group.size()); ++j)
          for (const int item : items_of(i, j)) machine_.held(group[i], item) = 1;
  }
  bool exchanged(const Between& items_of) {
    for (const auto& group : groups_)
      for (int i = 0; i < static_cast<int>(group.size()); ++i)
        for (int j = 0; j < static_cast<int>(group.size()); ++j)
          for (const int item : items_of(i, j))
            if (machine_.held(group[j], item) == 0) return false;
    return !machine_.wrong();
  }

 private:
  template <class Expected>
  bool holds(const Shards& shards, bool own_alone, Expected expected) {
    for (const auto& group : groups_)
      for (std::size_t i = 0; i < group.size(); ++i)
        for (std::size_t j = 0; j < shards.size(); ++j)
          for (const int item : shards[j])
            if ((!own_alone || i == j) && machine_.held(group[i], item) != expected(group.size(), j)) return false;
    return !machine_.wrong();
  }

  Machine& machine_;
  std::vector<std::vector<int>> groups_;
};

void expect_price(const Fabric& fabric, const Collective& collective, Algorithm algorithm, double seconds,
                  Machine* machine, const std::string& what) {
  const auto priced = price(fabric, collective, algorithm);
  ASSERT_TRUE(priced) << what;
  EXPECT_NEAR(priced->seconds / seconds, 1, 1e-9) << what;
  EXPECT_LE(priced->bound_seconds, priced->seconds * (1 + 1e-12)) << what;
  for (std::size_t l = 0; machine != nullptr && l < fabric.levels.size(); ++l) {
    EXPECT_NEAR(priced->bytes[l], machine->bytes(l) / machine->chips(), 1e-6 * buffer) << what << ", level " << l;
  }
}

std::string named(const char* what, int n, Algorithm algorithm) {
  return std::string(what) + " " + std::to_string(n) + " " + std::string(name_of(algorithm));
}

bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

TEST(PriceExact, SumsAndGathersThroughPorts) {
  for (const FabricKind kind : {FabricKind::switched, FabricKind::full}) {
    for (int n = 2; n <= 16; ++n) {
      const Fabric fabric{{level_of(kind, n)}};
      const std::vector<int> chips = first_chips(n);
      const Row row = ported(chips);
      const Shards shards = shards_of(n, 1);
      const GroupShape group = *whole_group(fabric, n);
      for (const Algorithm algorithm : {Algorithm::ring, Algorithm::halving, Algorithm::direct}) {
        if (algorithm == Algorithm::halving && !is_power_of_two(n)) {
          EXPECT_FALSE(price(fabric, {Kind::all_reduce, buffer, group}, algorithm));
          continue;
        }
        const auto half = [&](bool adds) {
          if (algorithm == Algorithm::ring) return one_way(row, shards, true, adds);
          if (algorithm == Algorithm::halving) return halving(chips, shards, adds);
          return direct(chips, shards, adds, kind == FabricKind::full);
        };
        const std::string what = named("ports", n, algorithm);
        Machine machine(fabric, n, n, buffer / n);
        Data data(machine, {chips});
        data.everybody_has_a_summand();
        const double scatter = machine.run(half(true));
        EXPECT_TRUE(data.shards_are_summed(shards)) << what;
        expect_price(fabric, {Kind::reduce_scatter, buffer, group}, algorithm, scatter, &machine, what);
        const double gather = machine.run(half(false));
        EXPECT_TRUE(data.all_is_summed(shards)) << what;
        expect_price(fabric, {Kind::all_reduce, buffer, group}, algorithm, scatter + gather, &machine, what);
        Machine other(fabric, n, n, buffer / n);
        Data shares(other, {chips});
        shares.everybody_has_its_shard(shards);
        expect_price(fabric, {Kind::all_gather, buffer, group}, algorithm, other.run(half(false)), &other, what);
        EXPECT_TRUE(shares.all_is_gathered(shards)) << what;
      }
    }
  }
}

TEST(PriceExact, ExchangesThroughPorts) {
  for (const FabricKind kind : {FabricKind::switched, FabricKind::full}) {
    for (int n = 2; n <= 16; ++n) {
      const Fabric fabric{{level_of(kind, n)}};
      const std::vector<int> chips = first_chips(n);
      const Between items_of = [n](int i, int j) { return Items{i * n + j}; };
      for (const Algorithm algorithm : {Algorithm::ring, Algorithm::halving, Algorithm::direct}) {
        if (algorithm == Algorithm::halving && !is_power_of_two(n)) continue;
        Machine machine(fabric, n, n * n, buffer / n);
        Data data(machine, {chips});
        data.exchange_begins(items_of);
        const double seconds =
            machine.run(algorithm == Algorithm::ring      ? exchange_round(ported(chips), items_of, true)
                        : algorithm == Algorithm::halving ? exchange_halving(chips, items_of)
                                                          : exchange_direct(chips, items_of, kind == FabricKind::full));
        const std::string what = named("exchange", n, algorithm);
        EXPECT_TRUE(data.exchanged(items_of)) << what;
        expect_price(fabric, {Kind::all_to_all, buffer, *whole_group(fabric, n)}, algorithm, seconds, &machine, what);
      }
    }
  }
}

TEST(PriceExact, BroadcastsThroughPorts) {
  for (const FabricKind kind : {FabricKind::switched, FabricKind::full}) {
    for (int n = 2; n <= 16; ++n) {
      const Fabric fabric{{level_of(kind, n)}};
      const std::vector<int> chips = first_chips(n);
      const Shards shards = shards_of(n, 1);
      const Collective broadcast{Kind::broadcast, buffer, *whole_group(fabric, n)};
      const auto expect = [&](Algorithm algorithm, const Steps& steps) {
        Machine machine(fabric, n, n, buffer / n);
        Data data(machine, {chips});
        data.the_first_has_all();
        expect_price(fabric, broadcast, algorithm, machine.run(steps), &machine, named("broadcast", n, algorithm));
        EXPECT_TRUE(data.all_is_copied(shards));
      };
      const Items all = joined(shards, [](int) { return true; });
      expect(Algorithm::tree, binomial(chips, all));
      if (is_power_of_two(n)) expect(Algorithm::halving, scatter_and_gather(chips, shards));
      Steps each(kind == FabricKind::full ? 1 : n - 1);
      for (int i = 1; i < n; ++i) each[kind == FabricKind::full ? 0 : i - 1].push_back({{0, i}, all, false});
      expect(Algorithm::direct, each);
      // As many pieces as are best.
      double best = 1e9;
      for (int pieces = 1; pieces <= 30; ++pieces) {
        Machine machine(fabric, n, pieces, small_buffer / pieces);
        Data data(machine, {chips});
        data.the_first_has_all();
        best = std::min(best, machine.run(chain(ported(chips), shards_of(pieces, 1), true)));
        EXPECT_TRUE(data.all_is_copied(shards_of(pieces, 1)));
      }
      const Collective small{Kind::broadcast, small_buffer, broadcast.group};
      expect_price(fabric, small, Algorithm::ring, best, nullptr, named("chain", n, Algorithm::ring));
    }
  }
}

// Rounds are all as long as the busiest port of any of them needs.
TEST(PriceExact, TwoTrees) {
  for (int n = 2; n <= 16; ++n) {
    const Fabric fabric{{level_of(FabricKind::switched, n)}};
    const std::vector<int> chips = first_chips(n);
    const double load = n == 2 ? 1 : 2;
    double best = 1e9;
    for (int pieces = 1; pieces <= 30; ++pieces) {
      const Shards all = shards_of(2 * pieces, 1);
      const Shards first(all.begin(), all.begin() + pieces), second(all.begin() + pieces, all.end());
      const Steps steps = two_trees(chips, first, second);
      Machine machine(fabric, n, 2 * pieces, small_buffer / 2 / pieces);
      Data data(machine, {chips});
      data.everybody_has_a_summand();
      const double round = load * (latency + small_buffer / 2 / pieces / width);
      double longest = 0;
      for (const Step& step : steps) longest = std::max(longest, machine.run(step));
      EXPECT_LE(longest, round * (1 + 1e-9)) << n << " chips, pieces " << pieces;
      if (pieces > 1) {
        EXPECT_NEAR(longest / round, 1, 1e-9) << n << " chips, pieces " << pieces;
      }
      EXPECT_TRUE(data.all_is_summed(all)) << n << " chips, pieces " << pieces;
      best = std::min(best, static_cast<double>(steps.size()) * round);
      EXPECT_NEAR(machine.bytes(0) / n, 2 * (n - 1.0) / n * small_buffer, 1) << n;
    }
    expect_price(fabric, {Kind::all_reduce, small_buffer, *whole_group(fabric, n)}, Algorithm::tree, best, nullptr,
                 named("trees", n, Algorithm::tree));
  }
}

TEST(PriceExact, InTheSwitchEverythingCrossesOnce) {
  Fabric fabric{{level_of(FabricKind::switched, 8)}};
  const GroupShape group = *whole_group(fabric, 8);
  EXPECT_FALSE(price(fabric, {Kind::all_reduce, buffer, group}, Algorithm::in_switch));
  fabric.levels[0].reduces = true;
  const auto seconds = [&](Kind kind) { return price(fabric, {kind, buffer, group}, Algorithm::in_switch)->seconds; };
  EXPECT_DOUBLE_EQ(seconds(Kind::all_reduce), latency + buffer / width);
  EXPECT_DOUBLE_EQ(seconds(Kind::broadcast), latency + buffer / width);
  EXPECT_DOUBLE_EQ(seconds(Kind::reduce_scatter), latency + 7.0 / 8 * buffer / width);
  EXPECT_DOUBLE_EQ(seconds(Kind::all_gather), latency + 7.0 / 8 * buffer / width);
  EXPECT_FALSE(price(fabric, {Kind::all_to_all, buffer, group}, Algorithm::in_switch));
}

// Members of all groups of a ring of so many positions, and the ways between them.
std::vector<Row> rows_on_ring(int positions, int count, int extent) {
  const int stride = extent / count;
  std::vector<Row> rows;
  for (int block = 0; block < positions; block += extent) {
    for (int offset = 0; offset < stride; ++offset) {
      Row row;
      row.closed = extent == positions;
      for (int i = 0; i < count; ++i) {
        const int at = block + offset + i * stride;
        row.members.push_back(at);
        row.up.push_back({at});
        row.down.push_back({at});
        for (int hop = 1; hop <= stride; ++hop) {
          row.up.back().push_back((at + hop) % positions);
          row.down.back().push_back((at - hop + positions) % positions);
        }
      }
      rows.push_back(row);
    }
  }
  return rows;
}

TEST(PriceExact, RingsAndPartsOfRings) {
  for (const int positions : {2, 3, 4, 5, 6, 8, 12}) {
    const Fabric fabric{{level_of(FabricKind::ring, positions)}};
    for (int extent = 2; extent <= positions; ++extent) {
      for (int n = 2; n <= extent; ++n) {
        if (positions % extent != 0 || extent % n != 0) continue;
        const std::vector<Row> rows = rows_on_ring(positions, n, extent);
        std::vector<std::vector<int>> groups;
        for (const Row& row : rows) groups.push_back(row.members);
        GroupShape group;
        group.spans[0] = {n, extent};
        const Shards shards = shards_of(n, 2);
        const auto on_all = [&](const std::function<Steps(const Row&)>& steps_of) {
          std::vector<Steps> all;
          for (const Row& row : rows) all.push_back(steps_of(row));
          return beside(all);
        };
        const std::string what =
            named("ring", positions, Algorithm::ring) + " " + std::to_string(n) + " in " + std::to_string(extent);
        Machine machine(fabric, positions, 2 * n, buffer / 2 / n);
        Data data(machine, groups);
        data.everybody_has_a_summand();
        const double scatter = machine.run(on_all([&](const Row& row) { return both_ways(row, shards, true); }));
        EXPECT_TRUE(data.shards_are_summed(shards)) << what;
        expect_price(fabric, {Kind::reduce_scatter, buffer, group}, Algorithm::ring, scatter, &machine, what);
        const double gather = machine.run(on_all([&](const Row& row) { return both_ways(row, shards, false); }));
        EXPECT_TRUE(data.all_is_summed(shards)) << what;
        expect_price(fabric, {Kind::all_reduce, buffer, group}, Algorithm::ring, scatter + gather, &machine, what);

        const Between items_of = [n](int i, int j) { return Items{2 * (i * n + j), 2 * (i * n + j) + 1}; };
        Machine exchange(fabric, positions, 2 * n * n, buffer / 2 / n);
        Data between(exchange, groups);
        between.exchange_begins(items_of);
        const double shortest = exchange.run(on_all([&](const Row& row) { return exchange_shortest(row, items_of); }));
        EXPECT_TRUE(between.exchanged(items_of)) << what;
        expect_price(fabric, {Kind::all_to_all, buffer, group}, Algorithm::direct, shortest, &exchange, what);
        if (rows[0].closed) {
          Machine round(fabric, positions, 2 * n * n, buffer / 2 / n);
          Data around(round, groups);
          around.exchange_begins(items_of);
          const double seconds =
              round.run(on_all([&](const Row& row) { return exchange_round(row, items_of, false); }));
          EXPECT_TRUE(around.exchanged(items_of)) << what;
          expect_price(fabric, {Kind::all_to_all, buffer, group}, Algorithm::ring, seconds, &round, what);
        }
        double best = 1e9;
        for (int pieces = 1; pieces <= 30; ++pieces) {
          Machine copies(fabric, positions, 2 * pieces, small_buffer / 2 / pieces);
          Data copied(copies, groups);
          copied.the_first_has_all();
          const auto [first, second] = halves(shards_of(pieces, 2));
          best = std::min(best, copies.run(on_all([&](const Row& row) {
            return row.closed ? beside({chain(row, first, true), chain(row, second, false)})
                              : chain(row, shards_of(pieces, 2), true);
          })));
          EXPECT_TRUE(copied.all_is_copied(shards_of(pieces, 2))) << what;
        }
        expect_price(fabric, {Kind::broadcast, small_buffer, group}, Algorithm::ring, best, nullptr, what);
      }
    }
  }
}

}  // namespace
}  // namespace monet
