#include "kernels/compile/min_cut.h"

#include <algorithm>

namespace monet::compiling {

void Network::add(std::uint32_t from, std::uint32_t to, double capacity) {
  arcs_.push_back({to, first_[from], capacity});
  first_[from] = static_cast<std::uint32_t>(arcs_.size() - 1);
  arcs_.push_back({from, first_[to], 0});
  first_[to] = static_cast<std::uint32_t>(arcs_.size() - 1);
}

bool Network::label(std::uint32_t source, std::uint32_t sink) {
  level_.assign(first_.size(), none);
  level_[source] = 0;
  std::vector<std::uint32_t> queue = {source};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (std::uint32_t arc = first_[queue[i]]; arc != none; arc = arcs_[arc].next) {
      const std::uint32_t to = arcs_[arc].to;
      if (arcs_[arc].left <= 0 || level_[to] != none) continue;
      level_[to] = level_[queue[i]] + 1;
      queue.push_back(to);
    }
  }
  return level_[sink] != none;
}

// One path to the sink along levels, without recursion: graphs are as deep as networks.
double Network::push(std::uint32_t source, std::uint32_t sink) {
  std::vector<std::uint32_t> path;
  std::uint32_t node = source;
  while (node != sink) {
    std::uint32_t& arc = at_[node];
    while (arc != none && (arcs_[arc].left <= 0 || level_[arcs_[arc].to] != level_[node] + 1)) arc = arcs_[arc].next;
    if (arc != none) {
      path.push_back(arc);
      node = arcs_[arc].to;
      continue;
    }
    if (path.empty()) return 0;
    level_[node] = none;  // a dead end
    const std::uint32_t back = path.back();
    path.pop_back();
    node = arcs_[back ^ 1U].to;
  }
  double flow = unlimited;
  for (std::uint32_t arc : path) flow = std::min(flow, arcs_[arc].left);
  for (std::uint32_t arc : path) {
    arcs_[arc].left -= flow;
    arcs_[arc ^ 1U].left += flow;
  }
  return flow;
}

std::vector<bool> Network::sink_side(std::uint32_t source, std::uint32_t sink) {
  while (label(source, sink)) {
    at_ = first_;
    while (push(source, sink) > 0) {
    }
  }
  std::vector<bool> side(first_.size(), false);
  side[sink] = true;
  std::vector<std::uint32_t> queue = {sink};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (std::uint32_t arc = first_[queue[i]]; arc != none; arc = arcs_[arc].next) {
      const std::uint32_t from = arcs_[arc].to;
      if (arcs_[arc ^ 1U].left <= 0 || side[from]) continue;
      side[from] = true;
      queue.push_back(from);
    }
  }
  return side;
}

}  // namespace monet::compiling
