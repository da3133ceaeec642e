// The search against the enumeration of every mapping.
#include "mapping/brute_force.h"

#include "mapping/random_cases.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;

constexpr Objective all_objectives[] = {Objective::latency, Objective::energy, Objective::edp};

// A few loops on a machine whose lower memories hold only a part.
MappingCase enumerable_case(Random& random) {
  MappingCase result{random_problem(random, 5), random_target(random, random.one_of<std::int64_t>({32, 64, 160, 400}))};
  for (TargetMemory& memory : result.target.memories) {
    memory.double_buffered = random.chance(0.2);
    memory.latency_cycles = static_cast<double>(random.between(0, 3));
  }
  if (random.chance(0.3)) {
    std::vector<double> extents;
    for (const Loop& loop : result.problem.loops) extents.push_back(static_cast<double>(loop.size));
    double bits = 0;
    for (const ProblemOperand& o : result.problem.operands) bits += elements(o, extents) * static_cast<double>(o.bits);
    result.target.memories.back().size_bits = static_cast<std::int64_t>(bits) * random.between(10, 16) / 10;
  }
  if (random.chance(0.3)) {
    TargetMemory& home = result.target.memories.back();
    home.link_bits = 6;
    home.link_pj_per_bit = 0.25;
  }
  if (random.chance(0.5)) {
    result.target.effects = {true, true, true, true, true};
    result.target.unit.fill_cycles = 3;
    result.target.clock_hz = 1e9;
    result.target.static_w = 0.001;
  }
  return result;
}

// Mappings that the enumeration would have to try, apart from the unrollings.
double enumeration(const Problem& problem, const Target& target, std::size_t factors) {
  double count = 1;
  for (std::size_t i = 2; i <= factors; ++i) count *= static_cast<double>(i);
  for (const ProblemOperand& operand : problem.operands) {
    const std::size_t levels = target.levels[static_cast<std::size_t>(operand.path)].size();
    count *= static_cast<double>(all_cuts(levels, factors).size());
  }
  return count;
}

TEST(BruteForce, FindsNothingBetterThanTheSearch) {
  std::size_t compared = 0;
  std::size_t limited = 0;
  for (std::uint64_t seed = 0; compared < 100 && seed < 2000; ++seed) {
    Random random(seed);
    const auto [problem, target] = enumerable_case(random);
    const std::size_t factors = 3;
    const auto unrollings = spatial_choices(problem, target, {});
    if (problem.loops.size() > 4 || unrollings.size() > 8) continue;
    std::size_t most = factors;
    for (const Unrolling& u : unrollings) most = std::max(most, factors_of(u.iterations, factors).size());
    if (enumeration(problem, target, most) * static_cast<double>(unrollings.size()) > 3000) continue;
    ++compared;
    for (Objective objective : all_objectives) {
      const BruteForce all = brute_force(problem, target, objective, factors, unrollings);
      const SearchOptions options{.objective = objective, .factors = factors, .refine = false};
      const auto found = map_problem(problem, target, options);
      SearchOptions patient = options;
      patient.prune = false;
      const auto unpruned = map_problem(problem, target, patient);
      ASSERT_EQ(found.has_value(), all.fitting > 0) << seed;
      ASSERT_EQ(unpruned.has_value(), all.fitting > 0) << seed;
      limited += all.fitting < all.tried;
      if (!found) continue;
      const Score score = score_of(objective, found->cost.cycles, found->cost.energy_pj);
      const Score other = score_of(objective, unpruned->cost.cycles, unpruned->cost.energy_pj);
      ASSERT_NEAR(score.first, all.best.first, 1e-9 * all.best.first) << seed << " objective " << int(objective);
      ASSERT_NEAR(score.second, all.best.second, 1e-9 * all.best.second) << seed << " objective " << int(objective);
      ASSERT_NEAR(other.first, score.first, 1e-9 * score.first) << seed;
      ASSERT_NEAR(other.second, score.second, 1e-9 * score.second) << seed;
      EXPECT_LE(found->cost.bound_cycles, all.least_cycles * (1 + 1e-9)) << seed;
      EXPECT_LE(found->cost.bound_pj, all.least_pj * (1 + 1e-9)) << seed;
      const auto again = cost_of(problem, target, found->mapping);
      ASSERT_TRUE(again) << seed << ' ' << again.error().message;
      EXPECT_NEAR(again->cost.cycles, found->cost.cycles, 1e-9 * found->cost.cycles);
      EXPECT_NEAR(again->cost.energy_pj, found->cost.energy_pj, 1e-9 * found->cost.energy_pj);
    }
  }
  EXPECT_GE(compared, 100U);
  EXPECT_GT(limited, 100U);
}

}  // namespace
}  // namespace monet
