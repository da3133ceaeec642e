#include "remat/problem.h"

#include <algorithm>

namespace monet::remat {

Links::Links(std::size_t nodes, std::span<const std::pair<NodeIndex, NodeIndex>> pairs) : start_(nodes + 1, 0) {
  for (const auto& [node, neighbour] : pairs) ++start_[node + 1];
  for (std::size_t i = 0; i < nodes; ++i) start_[i + 1] += start_[i];
  list_.resize(pairs.size());
  std::vector<std::uint32_t> next(start_.begin(), start_.end() - 1);
  for (const auto& [node, neighbour] : pairs) list_[next[node]++] = neighbour;
  for (std::size_t i = 0; i < nodes; ++i) std::sort(list_.begin() + start_[i], list_.begin() + start_[i + 1]);
}

void Problem::connect(std::span<const std::pair<NodeIndex, NodeIndex>> pairs) {
  std::vector<std::pair<NodeIndex, NodeIndex>> turned;
  turned.reserve(pairs.size());
  for (const auto& [operand, user] : pairs) turned.emplace_back(user, operand);
  users = Links(nodes.size(), pairs);
  operands = Links(nodes.size(), turned);
}

double base_time(const Problem& problem) {
  double sum = 0;
  for (const Node& node : problem.nodes) sum += node.time;
  return sum;
}

double base_energy_j(const Problem& problem) {
  double sum = 0;
  for (const Node& node : problem.nodes) sum += node.energy_j;
  return sum;
}

std::int64_t base_peak_bytes(const Problem& problem) {
  std::int64_t live = problem.fixed_bytes, peak = live;
  std::vector<std::vector<NodeIndex>> last_use(problem.size());
  for (NodeIndex node = 0; node < problem.size(); ++node) {
    const auto users = problem.users.of(node);
    last_use[users.empty() ? node : users.back()].push_back(node);
  }
  for (NodeIndex node = 0; node < problem.size(); ++node) {
    live += problem.nodes[node].bytes;
    peak = std::max(peak, live);
    for (const NodeIndex done : last_use[node]) live -= problem.nodes[done].bytes;
  }
  return peak;
}

StructuralMinimum structural_minimum(const Problem& problem) {
  StructuralMinimum minimum{.bytes = problem.fixed_bytes};
  for (NodeIndex node = 0; node < problem.size(); ++node) {
    std::int64_t bytes = problem.fixed_bytes + problem.nodes[node].bytes;
    for (const NodeIndex operand : problem.operands.of(node)) bytes += problem.nodes[operand].bytes;
    if (bytes > minimum.bytes) minimum = {bytes, node};
  }
  return minimum;
}

}  // namespace monet::remat
