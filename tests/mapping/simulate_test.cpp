// The loop-nest model against a simulation that counts elements one by one.
#include "mapping/simulate.h"

#include "mapping/random_cases.h"
#include "mapping/search.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace monet {
namespace {

using namespace test;

std::string text_of(const Problem& problem, const Target& target, const Mapping& mapping) {
  std::string text = "loops";
  for (const Loop& loop : problem.loops) text += fmt::format(" {}={}", name_of(loop.name), loop.size);
  text += "\nspatial";
  for (const auto& loop : mapping.spatial) text += fmt::format(" {}:{}x{}", loop.dimension, loop.loop, loop.size);
  text += "\ntemporal";
  for (const auto& loop : mapping.temporal) text += fmt::format(" {}x{}", loop.loop, loop.size);
  for (std::size_t o = 0; o < mapping.cuts.size(); ++o) {
    text += fmt::format("\ncuts of {}:", name_of(problem.operands[o].path));
    for (auto cut : mapping.cuts[o]) text += fmt::format(" {}", cut);
    for (const ProblemAxis& axis : problem.operands[o].axes) {
      text += " [";
      for (const Term& term : axis.terms) text += fmt::format("{}*{} ", term.factor, term.loop);
      text += fmt::format("< {}]", axis.limit);
    }
  }
  for (const auto& memory : target.memories) {
    text += fmt::format("\n{} served {} min {} max {}", memory.name, memory.served, memory.ports[0].min_bits,
                        memory.ports[0].max_bits);
  }
  return text;
}

bool is_window(const ProblemAxis& axis) { return axis.terms.size() > 1; }

// Nothing is ragged, no window is clipped, and lanes that share a window sit in one instance of every level.
bool is_exact(const Problem& problem, const Target& target, const Mapping& mapping) {
  std::vector<std::int64_t> covered(problem.loops.size(), 1);
  for (const SpatialLoop& loop : mapping.spatial) covered[loop.loop] *= loop.size;
  for (const TemporalLoop& loop : mapping.temporal) covered[loop.loop] *= loop.size;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    if (covered[i] != problem.loops[i].size) return false;
  }
  for (const ProblemOperand& operand : problem.operands) {
    const TargetMemory& lowest = target.memories[target.levels[static_cast<std::size_t>(operand.path)][0]];
    for (const ProblemAxis& axis : operand.axes) {
      std::int64_t reach = 1;
      for (const Term& term : axis.terms) reach += term.factor * (problem.loops[term.loop].size - 1);
      if (axis.limit < reach) return false;
      if (!is_window(axis)) continue;
      for (const SpatialLoop& loop : mapping.spatial) {
        const bool in_window = std::ranges::any_of(axis.terms, [&](const Term& t) { return t.loop == loop.loop; });
        if (in_window && (lowest.served >> loop.dimension & 1U) == 0) return false;
      }
    }
  }
  return true;
}

TEST(Simulate, EqualsTheModelWhereSizesDivide) {
  std::size_t exact = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const Problem problem = random_problem(random, 6);
    const Target target = random_target(random, std::int64_t{1} << 40);
    const Mapping mapping = random_mapping(random, problem, target, true);
    if (!is_exact(problem, target, mapping)) continue;
    ++exact;
    const auto mapped = cost_of(problem, target, mapping);
    ASSERT_TRUE(mapped) << mapped.error().text();
    const auto counted = Simulator(problem, target, mapping).run();
    for (std::size_t o = 0; o < counted.size(); ++o) {
      for (std::size_t level = 0; level < counted[o].size(); ++level) {
        for (std::size_t t = 0; t < transfer_count; ++t) {
          ASSERT_NEAR(counted[o][level].bits[t], mapped->cost.traffic[o][level].bits[t], 1e-6)
              << "seed " << seed << " operand " << o << " level " << level << " " << name_of(static_cast<Transfer>(t))
              << "\n"
              << text_of(problem, target, mapping);
          ASSERT_NEAR(counted[o][level].words[t], mapped->cost.traffic[o][level].words[t], 1e-6)
              << "seed " << seed << " operand " << o << " level " << level << " " << name_of(static_cast<Transfer>(t))
              << "\n"
              << text_of(problem, target, mapping);
        }
      }
    }
  }
  EXPECT_GT(exact, 700U);
}

// Sizes that the pieces of a mapping multiply to: those of the problem, or the next ones that they divide.
Problem padded_problem(const Problem& problem, const Mapping& mapping) {
  Problem result = problem;
  std::vector<std::int64_t> covered(problem.loops.size(), 1);
  for (const SpatialLoop& loop : mapping.spatial) covered[loop.loop] *= loop.size;
  for (const TemporalLoop& loop : mapping.temporal) covered[loop.loop] *= loop.size;
  for (std::size_t i = 0; i < covered.size(); ++i) result.loops[i].size = covered[i];
  for (ProblemOperand& operand : result.operands) {
    for (ProblemAxis& axis : operand.axes) axis.limit = std::int64_t{1} << 30;
  }
  return result;
}

// Ragged pieces are costed at their average size. That is exact for most transfers. It is less than what moves only
// where lanes that are idle in the last iteration hold copies (by as much as those lanes), and never more than what a
// padded problem moves.
TEST(Simulate, BoundsTheModelWhereSizesDoNotDivide) {
  std::size_t entries = 0;
  std::size_t equal = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const Problem problem = random_problem(random, 7);
    const Target target = random_target(random, std::int64_t{1} << 40);
    const Mapping mapping = random_mapping(random, problem, target, false);
    const Problem larger = padded_problem(problem, mapping);
    if (!is_exact(larger, target, mapping)) continue;
    const auto mapped = cost_of(problem, target, mapping);
    ASSERT_TRUE(mapped) << mapped.error().text();
    double lanes = 1;
    for (const SpatialLoop& loop : mapped->mapping.spatial) lanes *= loop.average / static_cast<double>(loop.size);
    const auto counted = Simulator(problem, target, mapping).run();
    const auto most = Simulator(larger, target, mapping).run();
    for (std::size_t o = 0; o < counted.size(); ++o) {
      for (std::size_t level = 0; level < counted[o].size(); ++level) {
        for (std::size_t t = 0; t < transfer_count; ++t) {
          const Traffic& model = mapped->cost.traffic[o][level];
          const std::string place = fmt::format("seed {} operand {} level {} {}\n{}", seed, o, level,
                                                name_of(static_cast<Transfer>(t)), text_of(problem, target, mapping));
          ASSERT_GE(model.bits[t] + 1e-6, counted[o][level].bits[t] * lanes) << place;
          ASSERT_LE(model.bits[t], most[o][level].bits[t] + 1e-6) << place;
          ASSERT_LE(model.words[t], most[o][level].words[t] + 1e-6) << place;
          ++entries;
          equal += std::abs(model.bits[t] - counted[o][level].bits[t]) < 1e-6;
        }
      }
    }
  }
  EXPECT_GT(entries, 10000U);
  EXPECT_GT(static_cast<double>(equal), 0.9 * static_cast<double>(entries));
}

// Padding at the end of an axis is not in memory: the model may count what lies beyond it in tiles that are not the
// whole, never less than what is there.
TEST(Simulate, NeverCountsLessThanWhatIsReadBesidePadding) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Problem problem = convolution_with(2, 2, random.between(2, 6), 3, {random.between(1, 2), 1, 2});
    const Target target = random_target(random, std::int64_t{1} << 40);
    const Mapping mapping = random_mapping(random, problem, target, true);
    if (!is_exact(padded_problem(problem, mapping), target, mapping)) continue;
    const auto mapped = cost_of(problem, target, mapping);
    ASSERT_TRUE(mapped) << mapped.error().text();
    const auto counted = Simulator(problem, target, mapping).run();
    const auto beyond = Simulator(padded_problem(problem, mapping), target, mapping).run();
    for (std::size_t level = 0; level < counted[0].size(); ++level) {
      for (std::size_t t = 0; t < transfer_count; ++t) {
        ASSERT_GE(mapped->cost.traffic[0][level].bits[t] + 1e-6, counted[0][level].bits[t]) << seed;
        ASSERT_LE(mapped->cost.traffic[0][level].bits[t], beyond[0][level].bits[t] + 1e-6) << seed;
      }
    }
  }
}

TEST(Simulate, CountsTheDistinctPositionsOfWindows) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    ProblemAxis axis;
    std::vector<double> extents;
    const auto terms = random.between(1, 3);
    for (std::uint8_t i = 0; i < terms; ++i) {
      axis.terms.push_back({i, random.between(1, 4)});
      extents.push_back(static_cast<double>(random.between(1, 5)));
    }
    axis.divisor = random.one_of<std::int64_t>({1, 1, 2, 3});
    axis.span = random.one_of<std::int64_t>({1, 1, 2});
    axis.limit = 1000;
    std::set<std::int64_t> found;
    std::vector<double> at(extents.size(), 0);
    for (bool more = true; more;) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < at.size(); ++i) sum += axis.terms[i].factor * static_cast<std::int64_t>(at[i]);
      for (std::int64_t s = 0; s < axis.span; ++s) found.insert(sum / axis.divisor + s);
      more = false;
      for (std::size_t i = 0; i < at.size() && !more; ++i) {
        more = ++at[i] < extents[i];
        if (!more) at[i] = 0;
      }
    }
    const double closed = positions(axis, extents);
    const bool plain = axis.divisor == 1 && axis.span == 1 && terms <= 2;
    if (plain) {
      EXPECT_EQ(closed, static_cast<double>(found.size())) << seed;
    } else {
      EXPECT_GE(closed, static_cast<double>(found.size())) << seed;
    }
  }
}

}  // namespace
}  // namespace monet
