// Are blocks cut into stages as brute force cuts them?
#include "pipeline/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

namespace monet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(BalancedStages, AsBruteForce) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> costs(1 + random() % 9);
    for (double& cost : costs) cost = static_cast<double>(random() % 7);
    const std::size_t stages = 1 + random() % costs.size(), room = 1 + random() % costs.size();
    const auto fits = [&](std::size_t, std::size_t count, std::size_t) { return count <= room; };
    std::pair<double, double> best{1e9, 1e9};
    const std::function<void(std::size_t, std::size_t, double, double)> cut = [&](std::size_t first, std::size_t left,
                                                                                  double slowest, double squares) {
      if (left == 0) {
        if (first == costs.size()) best = std::min(best, std::pair(slowest, squares));
        return;
      }
      double sum = 0;
      for (std::size_t end = first; end < costs.size() && end - first < room;) {
        sum += costs[end++];
        cut(end, left - 1, std::max(slowest, sum), squares + sum * sum);
      }
    };
    cut(0, stages, 0, 0);
    const auto counts = balanced_stages(costs, stages, fits);
    if (best.first > 1e8) {
      EXPECT_THAT(counts, IsEmpty());
      continue;
    }
    ASSERT_EQ(counts.size(), stages);
    double slowest = 0, squares = 0;
    auto at = costs.begin();
    for (const std::size_t count : counts) {
      ASSERT_TRUE(fits(0, count, 0));
      const double sum = std::accumulate(at, at + static_cast<std::ptrdiff_t>(count), 0.0);
      at += static_cast<std::ptrdiff_t>(count);
      slowest = std::max(slowest, sum);
      squares += sum * sum;
    }
    EXPECT_EQ(at, costs.end());
    EXPECT_EQ(std::pair(slowest, squares), best);
  }
}

TEST(BalancedStages, EqualBlocksWithADearHead) {
  const std::vector<double> costs = {2, 1, 1, 1, 1, 3};
  EXPECT_THAT(balanced_stages(costs, 3), ElementsAre(2, 3, 1));
  EXPECT_THAT(balanced_stages(costs, 7), IsEmpty());
}

}  // namespace
}  // namespace monet
