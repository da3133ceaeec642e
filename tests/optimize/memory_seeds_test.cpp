// Are the beginnings of the search what is known to be good for chains?
#include "optimize/memory/seeds.h"

#include "optimize/memory_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace monet {
namespace {

using namespace test;

bool pages(const MemorySpace& space, const Genome& genome) { return !space.names(genome, Retention::page).empty(); }

// Of a row of choices, the most in turn that are not kept.
std::size_t longest_dropped(const Genome& genome) {
  std::size_t longest = 0, run = 0;
  for (std::size_t i = 0; i + 1 < genome.size(); ++i) {
    run = genome[i] == 0 ? 0 : run + 1;
    longest = std::max(longest, run);
  }
  return longest;
}

TEST(MemorySeeds, AreGenomesOfTheSpaceEachOnceInEveryOrder) {
  for (const bool storage : {false, true}) {
    const MemoryCase example(training_step_of("mlp-robotics:hidden=32,layers=8", 8), one_memory_machine(storage),
                             MemorySpaceOptions{});
    const std::vector<std::uint16_t> choices = example.space_->choices();
    const std::vector<Genome> seeds = memory_seeds(example.graph_, *example.space_);
    const std::set<Genome> all(seeds.begin(), seeds.end());
    EXPECT_EQ(all.size(), seeds.size());
    EXPECT_TRUE(all.contains(example.space_->all_kept()));
    for (Genome genome : seeds) {
      ASSERT_EQ(genome.size(), choices.size());
      for (std::size_t i = 0; i < genome.size(); ++i) EXPECT_LT(genome[i], choices[i]);
      genome.back() = static_cast<std::uint16_t>(1 - genome.back());  // two orders
      EXPECT_TRUE(all.contains(genome));
    }
    const auto all_paged = [&](const Genome& genome) {
      return example.space_->names(genome, Retention::page).size() == example.space_->candidates().size();
    };
    EXPECT_EQ(std::ranges::any_of(seeds, all_paged), storage);
  }
}

// A chain of n equal saved tensors: k of them kept divide the others into pieces of about n / (k + 1).
TEST(MemorySeeds, SegmentsOfAChainAreOfAboutEqualLength) {
  const MemoryCase example(training_step_of("mlp-robotics:inputs=32,hidden=32,outputs=32,layers=15", 8),
                           one_memory_machine(false), {.reorder = false});
  const std::size_t count = example.space_->candidates().size();
  ASSERT_GE(count, 15U);
  std::set<std::size_t> numbers;
  for (const Genome& genome : memory_seeds(example.graph_, *example.space_)) {
    if (pages(*example.space_, genome)) continue;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      // What cannot be recomputed is always kept.
      if (genome[i] == 0 && example.space_->candidates()[i].choices.size() > 1) ++kept;
    }
    numbers.insert(kept);
    if (kept == 0 || kept == count) continue;
    EXPECT_LE(longest_dropped(genome), 2 * (count / (kept + 1) + 1)) << kept;
  }
  // From few to many, among them the square root of n.
  EXPECT_GE(numbers.size(), 4U);
  EXPECT_TRUE(std::ranges::any_of(numbers, [](std::size_t kept) { return kept >= 3 && kept <= 5; }));
}

}  // namespace
}  // namespace monet
