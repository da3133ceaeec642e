// Targets that the search cannot tell apart: what is found on the one that stands for them is what each would give.
#include "mapping/canonical.h"

#include "mapping/cache.h"
#include "mapping/random_cases.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;

struct CanonicalCase {
  Problem problem;
  Target target;
};

// Some memories are far larger than what the problem needs.
CanonicalCase random_canonical_case(std::uint64_t seed) {
  Random random(seed);
  CanonicalCase result{random_problem(random, 12),
                       random_target(random, random.one_of<std::int64_t>({64, 256, 1000, 4000}), 8)};
  for (TargetMemory& memory : result.target.memories) {
    memory.double_buffered = random.chance(0.2);
    if (random.chance(0.5)) memory.size_bits *= random.one_of<std::int64_t>({2, 10, 1000, 1000000});
  }
  result.target.effects.static_energy = random.chance(0.8);
  result.target.clock_hz = 1e9;
  result.target.static_w = random.one_of<double>({0, 0.01, 3});
  return result;
}

std::string key_on(const Problem& problem, const Target& target, const SearchOptions& options) {
  return canonical_key(problem, common_key_of(target, options), useful_bits(problem, target, options));
}

TEST(CanonicalTarget, GivesWhatTheTargetItselfGives) {
  std::size_t smaller = 0, mapped = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto [problem, target] = random_canonical_case(seed);
    for (const Objective objective : {Objective::latency, Objective::energy, Objective::edp}) {
      const SearchOptions options{.objective = objective};
      const std::vector<std::int64_t> useful = useful_bits(problem, target, options);
      const Target canonical = canonical_target(target, options, useful);
      for (std::size_t m = 0; m < useful.size(); ++m) smaller += useful[m] < target.memories[m].size_bits ? 1 : 0;
      const auto direct = map_problem(problem, target, options);
      const auto shared = map_problem(problem, canonical, options);
      ASSERT_EQ(direct.has_value(), shared.has_value()) << seed;
      if (!direct) {
        EXPECT_EQ(direct.error().text(), shared.error().text()) << seed;
        continue;
      }
      ++mapped;
      EXPECT_EQ(to_line(direct->mapping), to_line(shared->mapping)) << seed;
      EXPECT_EQ(direct->cost.cycles, shared->cost.cycles) << seed;
      EXPECT_EQ(direct->cost.stall_cycles, shared->cost.stall_cycles) << seed;
      EXPECT_EQ(direct->cost.memory_pj, shared->cost.memory_pj) << seed;
      EXPECT_EQ(direct->cost.bound_by, shared->cost.bound_by) << seed;
      EXPECT_EQ(direct->cost.energy_pj, energy_on(target, options, shared->cost)) << seed;
    }
  }
  EXPECT_GT(smaller, 400U);
  EXPECT_GT(mapped, 400U);
}

TEST(CanonicalTarget, IsTheSameForAllSizesBeyondNeed) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto [problem, target] = random_canonical_case(seed);
    for (TargetMemory& memory : target.memories) memory.size_bits = std::int64_t{1} << 40;
    const std::string key = key_on(problem, target, {});
    for (TargetMemory& memory : target.memories) memory.size_bits *= 3;
    target.static_w *= 7;
    EXPECT_EQ(key, key_on(problem, target, {})) << seed;
    target.memories[0].size_bits = 8;
    EXPECT_NE(key, key_on(problem, target, {})) << seed;
  }
}

TEST(CanonicalTarget, KeepsStaticPowerWhereEnergyDecides) {
  auto [problem, target] = random_canonical_case(1);
  target.static_w = 1;
  Target other = target;
  other.static_w = 2;
  EXPECT_EQ(key_on(problem, target, {}), key_on(problem, other, {}));
  for (const Objective objective : {Objective::energy, Objective::edp}) {
    EXPECT_NE(key_on(problem, target, {.objective = objective}), key_on(problem, other, {.objective = objective}));
  }
  EXPECT_NE(key_on(problem, target, {.climb = true}), key_on(problem, other, {.climb = true}));
}

MappingCache::Result result_with(double cycles) {
  MappedProblem mapped;
  mapped.cost.cycles = cycles;
  return std::make_shared<const Expected<MappedProblem>>(std::move(mapped));
}

TEST(BoundedCache, KeepsWhatIsAskedForAndNoMoreThanItMay) {
  constexpr std::size_t most = 320;
  MappingCache cache(most);
  cache.put("kept", result_with(-1));
  for (int i = 0; i < 5000; ++i) {
    const std::string key = std::to_string(i);
    cache.put(key, result_with(i));
    ASSERT_LE(cache.size(), most);
    const auto found = cache.find(key);
    ASSERT_TRUE(found);
    EXPECT_EQ((**found).cost.cycles, i);
    // What is asked for again and again stays.
    const auto kept = cache.find("kept");
    ASSERT_TRUE(kept) << i;
    EXPECT_EQ((**kept).cost.cycles, -1);
  }
  EXPECT_GE(cache.size(), most / 4);
  EXPECT_FALSE(cache.find("0"));
}

TEST(BoundedCache, TheFirstUnderAKeyStays) {
  MappingCache cache(64);
  cache.put("a", result_with(1));
  EXPECT_EQ((**cache.put("a", result_with(2))).cost.cycles, 1);
  MappingCache all;
  for (int i = 0; i < 2000; ++i) all.put(std::to_string(i), result_with(i));
  EXPECT_EQ(all.size(), 2000U);
}

}  // namespace
}  // namespace monet
