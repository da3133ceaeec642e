// A batch can be worked on in parts: twice as many samples take no more than twice as long, and what it costs to add
// to the sums of the first half.
#include "mapping/random_cases.h"
#include "mapping/search.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;

// A weight gradient: samples and positions add up.
Problem weight_gradient(std::int64_t batch, std::int64_t k, std::int64_t c, std::int64_t y, std::int64_t x) {
  using enum Dim;
  return problem_from({{{B, batch}, {K, k}, {C, c}, {OY, y}, {OX, x}},
                       {{Path::input, {{{{B, 1}}}, {{{C, 1}}}, {{{OY, 1}}}, {{{OX, 1}}}}},
                        {Path::weight, {{{{B, 1}}}, {{{K, 1}}}, {{{OY, 1}}}, {{{OX, 1}}}}},
                        {Path::output, {{{{K, 1}}}, {{{C, 1}}}}, true}}});
}

TEST(MappingBatch, TwiceAsManySamplesTakeAboutTwiceAsLongAtMost) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Random random(seed);
    const auto size = [&] { return random.one_of<std::int64_t>({6, 9, 12, 20, 36}); };
    const std::int64_t k = size(), c = size(), y = size(), x = size();
    // Powers of two on two lanes: only the largest unrollings are tried, and others would be no better.
    const Target target = random_target(random, random.one_of<std::int64_t>({64, 256, 1000, 4000}), 2);
    for (std::int64_t batch : {1, 2, 4}) {
      const SearchOptions options{.factors = 5, .refine = false};
      const auto once = map_problem(weight_gradient(batch, k, c, y, x), target, options);
      const auto twice = map_problem(weight_gradient(2 * batch, k, c, y, x), target, options);
      if (!once) continue;
      ASSERT_TRUE(twice) << seed;
      EXPECT_LE(twice->cost.cycles, 2.1 * once->cost.cycles) << "seed " << seed << ", batch " << batch;
      ++compared;
    }
  }
  EXPECT_GT(compared, 200);
}

}  // namespace
}  // namespace monet
