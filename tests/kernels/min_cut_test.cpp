// Is the cut the smallest, and of the smallest ones that nearest to the sink?
#include "kernels/compile/min_cut.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

namespace monet::compiling {
namespace {

struct Edge {
  std::uint32_t from, to;
  double capacity;
};

TEST(MinCut, IsThatOfBruteForce) {
  std::mt19937 random(7);
  for (int time = 0; time < 300; ++time) {
    const std::uint32_t nodes = 2 + random() % 6;
    std::vector<Edge> edges;
    for (std::uint32_t i = 0; i < 2 * nodes; ++i) {
      const std::uint32_t from = random() % nodes, to = random() % nodes;
      if (from != to) edges.push_back({from, to, static_cast<double>(1 + random() % 5)});
    }
    // Source 0, sink 1. Bits: on the sink's side.
    const auto capacity = [&](std::uint32_t side) {
      double sum = 0;
      for (const Edge& edge : edges) {
        if ((side >> edge.from & 1U) == 0 && (side >> edge.to & 1U) == 1) sum += edge.capacity;
      }
      return sum;
    };
    double least = 1e9;
    for (std::uint32_t side = 0; side < 1U << nodes; ++side) {
      if ((side & 3U) == 2U) least = std::min(least, capacity(side));
    }
    Network network(nodes);
    for (const Edge& edge : edges) network.add(edge.from, edge.to, edge.capacity);
    const std::vector<bool> found = network.sink_side(0, 1);
    std::uint32_t answer = 0;
    for (std::uint32_t i = 0; i < nodes; ++i) answer |= found[i] ? 1U << i : 0;
    ASSERT_EQ(answer & 3U, 2U);
    EXPECT_EQ(capacity(answer), least) << time;
    for (std::uint32_t side = 0; side < 1U << nodes; ++side) {
      if ((side & 3U) == 2U && capacity(side) == least) {
        EXPECT_EQ(side & answer, answer) << time << ": a smallest cut nearer to the sink";
      }
    }
  }
}

}  // namespace
}  // namespace monet::compiling
