// Graphs of the families of the public instances, made here, and small random ones.
#pragma once

#include "remat/problem.h"
#include "remat/sequence.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace monet::test {

using remat::NodeIndex;
using RematPairs = std::vector<std::pair<NodeIndex, NodeIndex>>;

inline remat::Problem remat_problem(const std::vector<std::pair<double, std::int64_t>>& times_and_bytes,
                                    const RematPairs& pairs) {
  remat::Problem problem;
  for (const auto& [time, bytes] : times_and_bytes)
    problem.nodes.push_back({"n" + std::to_string(problem.nodes.size()), time, time, bytes, true});
  problem.connect(pairs);
  return problem;
}

// Nodes 0 to 2L, each reading the one before; node 2L - i also node i, for i < L. All costs are one.
inline remat::Problem remat_chain(NodeIndex layers) {
  RematPairs pairs;
  for (NodeIndex i = 1; i <= 2 * layers; ++i) pairs.emplace_back(i - 1, i);
  for (NodeIndex i = 0; i + 1 < layers; ++i) pairs.emplace_back(i, 2 * layers - i);
  if (layers > 0) pairs.emplace_back(layers - 1, layers + 1);
  std::ranges::sort(pairs);
  const auto same = std::ranges::unique(pairs);
  pairs.erase(same.begin(), same.end());
  return remat_problem(std::vector<std::pair<double, std::int64_t>>(2 * layers + 1, {1, 1}), pairs);
}

inline remat::Channel remat_channel(double power_w = 1) {
  return {.in_latency_s = 0.25, .in_bytes_per_s = 8, .out_latency_s = 0.5, .out_bytes_per_s = 4, .power_w = power_w};
}

// Runs of a node; testing::Test has a Run of its own.
inline remat::Run computed(NodeIndex node) { return remat::Run(node); }
inline remat::Run paged(NodeIndex node) { return remat::Run(node, true); }

// Every node but the first reads one to three earlier ones.
inline remat::Problem random_remat(std::mt19937& random, NodeIndex nodes, bool channel) {
  const auto below = [&](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
  std::vector<std::pair<double, std::int64_t>> costs;
  RematPairs pairs;
  for (NodeIndex node = 0; node < nodes; ++node) {
    costs.emplace_back(below(6), below(9));
    if (node > 0)
      for (std::uint32_t i = 0; i < 1 + below(3); ++i) pairs.emplace_back(below(node), node);
  }
  std::ranges::sort(pairs);
  const auto same = std::ranges::unique(pairs);
  pairs.erase(same.begin(), same.end());
  remat::Problem problem = remat_problem(costs, pairs);
  problem.has_energy = true;
  if (below(4) == 0) problem.fixed_bytes = below(5);
  if (below(3) == 0) problem.nodes[below(nodes)].recomputable = false;
  if (channel) problem.channel = remat_channel(0.25 * (1 + below(8)));
  return problem;
}

// Random layered graphs: about sqrt(n / w) layers of width about sqrt(n w), uniform within 75 %, one source and one
// sink; a node reads nodes of the layer before with probability 0.2, at least one, and of earlier ones so that about
// 14 % of all links skip; durations uniform to 1000, sizes multiples of 10 with two humps.
inline remat::Problem random_layered(std::uint32_t seed, NodeIndex nodes, double width) {
  std::mt19937 random(seed);
  const auto uniform = [&](double from, double to) { return std::uniform_real_distribution<double>(from, to)(random); };
  std::vector<std::vector<NodeIndex>> layers = {{0}};
  NodeIndex made = 1;
  while (made + 1 < nodes) {
    const double mean = std::sqrt(nodes * width);
    const auto count = static_cast<NodeIndex>(std::max(1.0, std::round(mean * uniform(0.25, 1.75))));
    layers.emplace_back();
    for (NodeIndex i = 0; i < count && made + 1 < nodes; ++i) layers.back().push_back(made++);
  }
  layers.push_back({made++});
  RematPairs pairs;
  for (std::size_t layer = 1; layer < layers.size(); ++layer) {
    for (const NodeIndex node : layers[layer]) {
      const auto& before = layers[layer - 1];
      const std::size_t from = pairs.size();
      for (const NodeIndex other : before)
        if (uniform(0, 1) < 0.2) pairs.emplace_back(other, node);
      if (pairs.size() == from) pairs.emplace_back(before[random() % before.size()], node);
      for (std::size_t i = from, end = pairs.size(); i < end; ++i)
        if (layer > 1 && uniform(0, 1) < 0.16)
          pairs.emplace_back(static_cast<NodeIndex>(random() % before.front()), node);
    }
    // Nobody's output is for nothing.
    for (const NodeIndex other : layers[layer - 1])
      if (std::ranges::none_of(pairs, [&](const auto& pair) { return pair.first == other; }))
        pairs.emplace_back(other, layers[layer][random() % layers[layer].size()]);
  }
  std::ranges::sort(pairs);
  const auto same = std::ranges::unique(pairs);
  pairs.erase(same.begin(), same.end());
  std::vector<std::pair<double, std::int64_t>> costs;
  for (NodeIndex i = 0; i < nodes; ++i) {
    const double size = uniform(0, 1) < 0.5 ? uniform(20, 150) : uniform(150, 750);
    costs.emplace_back(std::floor(uniform(0, 1000)), 10 * static_cast<std::int64_t>(size));
  }
  return remat_problem(costs, pairs);
}

// A U-net's training step: `depth` levels down and up with skips, then the backward part of each node, which reads the
// gradient of its user and what the forward node read.
inline remat::Problem remat_unet(NodeIndex depth) {
  std::vector<std::pair<double, std::int64_t>> costs;
  RematPairs pairs;
  std::vector<NodeIndex> skips;
  const auto add = [&](double time, std::int64_t bytes, std::vector<NodeIndex> operands) {
    const auto node = static_cast<NodeIndex>(costs.size());
    costs.emplace_back(time, bytes);
    for (const NodeIndex operand : operands) pairs.emplace_back(operand, node);
    return node;
  };
  NodeIndex last = add(10, 64 << (2 * depth), {});
  for (NodeIndex level = 0; level < depth; ++level) {
    skips.push_back(last = add(40, 64 << (2 * (depth - level)), {last}));
    last = add(5, 32 << (2 * (depth - level - 1)), {last});
  }
  for (NodeIndex level = depth; level-- > 0;) last = add(60, 64 << (2 * (depth - level)), {last, skips[level]});
  const auto forward = static_cast<NodeIndex>(costs.size());
  const RematPairs reads = pairs;
  NodeIndex gradient = add(1, 16, {last});
  for (NodeIndex node = forward; node-- > 0;) {
    std::vector<NodeIndex> operands = {gradient, node};
    for (const auto& [operand, user] : reads)
      if (user == node) operands.push_back(operand);
    gradient = add(2 * costs[node].first, costs[node].second, operands);
  }
  std::ranges::sort(pairs);
  const auto same = std::ranges::unique(pairs);
  pairs.erase(same.begin(), same.end());
  return remat_problem(costs, pairs);
}

}  // namespace monet::test
