// What is looked ahead to leaves nothing out: searches with it and without it find mappings that are as good, where
// results come back as partial sums over ports of their own.
#include "mapping/outlook.h"

#include "mapping/random_cases.h"
#include "mapping/search.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;

constexpr Objective objectives_looked_at[] = {Objective::latency, Objective::energy, Objective::edp};

// One port for each way: what goes up waits for nothing that comes down.
void split_ports(TargetMemory& memory) {
  const Port port = memory.ports.front();
  memory.ports = {port, port};
  memory.ports[0].kind = PortKind::read;
  memory.ports[1].kind = PortKind::write;
  for (auto& path : memory.port) {
    for (std::size_t t = 0; t < transfer_count; ++t) {
      if (path[t] != no_port) path[t] = is_read(static_cast<Transfer>(t)) ? 0 : 1;
    }
  }
}

TEST(Outlook, LeavesNothingBetterOut) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; compared < 600; ++seed) {
    Random random(seed);
    const Problem problem = random_problem(random, 24);
    Target target = random_target(random, random.one_of<std::int64_t>({32, 160, 400, 2000}));
    for (TargetMemory& memory : target.memories) {
      memory.double_buffered = random.chance(0.2);
      if (random.chance(0.5)) split_ports(memory);
    }
    for (const Objective objective : objectives_looked_at) {
      SearchOptions options{.objective = objective, .factors = 5, .refine = false};
      const auto found = map_problem(problem, target, options);
      options.prune = false;
      const auto patient = map_problem(problem, target, options);
      ASSERT_EQ(found.has_value(), patient.has_value()) << seed;
      if (!found) continue;
      // The same mapping: what is left out is not better than what was found before it.
      EXPECT_EQ(found->cost.cycles, patient->cost.cycles) << seed;
      EXPECT_EQ(found->cost.energy_pj, patient->cost.energy_pj) << seed;
      EXPECT_EQ(found->mapping.cuts, patient->mapping.cuts) << seed;
      ++compared;
    }
  }
}

}  // namespace
}  // namespace monet
