#include "evaluate/plan/stack_order.h"

#include "base/require.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>

namespace monet {

namespace {

// From one unit to another that must come later, and the operators because of which; not valid: as the plan lists them.
struct Edge {
  std::uint32_t from = 0, to = 0;
  NodeId maker, reader;
};

class Ordering {
 public:
  Ordering(const Graph& graph, const Dependencies& dependencies, std::span<const StackNodes> stacks, bool listed)
      : graph_(graph), stacks_(stacks) {
    std::vector<std::uint32_t> unit(dependencies.nodes(), none);
    for (const StackNodes& stack : stacks) {
      for (NodeId node : stack.nodes) unit[node.index()] = static_cast<std::uint32_t>(units_.size());
      units_.push_back(stack.nodes);
      std::ranges::sort(units_.back());
    }
    for (std::size_t i = 0; i < dependencies.nodes(); ++i) {
      if (dependencies.is_view(NodeId(i)) || unit[i] != none) continue;
      unit[i] = static_cast<std::uint32_t>(units_.size());
      units_.push_back({NodeId(i)});
    }
    for (std::size_t i = 0; i < dependencies.nodes(); ++i) {
      for (NodeId before : dependencies.before(NodeId(i))) {
        if (unit[before.index()] != unit[i]) edges_.push_back({unit[before.index()], unit[i], before, NodeId(i)});
      }
    }
    for (std::uint32_t i = 1; listed && i < stacks.size(); ++i) edges_.push_back({i - 1, i, {}, {}});
    index_edges();
  }

  Expected<std::vector<std::vector<NodeId>>> run() {
    using Entry = std::pair<NodeId, std::uint32_t>;  // its first operator, unit
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      if (waits_[u] == 0) ready.emplace(units_[u].front(), u);
    }
    std::vector<std::vector<NodeId>> order;
    order.reserve(units_.size());
    while (!ready.empty()) {
      const std::uint32_t unit = ready.top().second;
      ready.pop();
      for (std::size_t e = first_[unit]; e < first_[unit + 1]; ++e) {
        const std::uint32_t to = edges_[e].to;
        if (--waits_[to] == 0) ready.emplace(units_[to].front(), to);
      }
      order.push_back(std::move(units_[unit]));
    }
    if (order.size() == units_.size()) return order;
    return explain();
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffU;

  void index_edges() {
    std::ranges::stable_sort(edges_, {}, &Edge::from);
    first_.assign(units_.size() + 1, 0);
    waits_.assign(units_.size(), 0);
    for (const Edge& edge : edges_) {
      ++first_[edge.from + 1];
      ++waits_[edge.to];
    }
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  }

  // The shortest way from a unit back to itself; empty: there is none.
  std::vector<Edge> ring_through(std::uint32_t start) const {
    std::vector<std::size_t> reached_by(units_.size(), edges_.size());
    std::vector<std::uint32_t> queue = {start};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (std::size_t e = first_[queue[at]]; e < first_[queue[at] + 1]; ++e) {
        const std::uint32_t to = edges_[e].to;
        if (waits_[to] == 0 || reached_by[to] != edges_.size()) continue;
        reached_by[to] = e;
        queue.push_back(to);
        if (to != start) continue;
        std::vector<Edge> ring;
        std::uint32_t unit = start;
        do {
          ring.push_back(edges_[reached_by[unit]]);
          unit = ring.back().from;
        } while (unit != start);
        std::ranges::reverse(ring);
        return ring;
      }
    }
    return {};
  }

  // A unit on a ring: going back from one that waits, among those that wait, comes to one twice.
  std::uint32_t unit_on_ring() const {
    std::vector<std::uint32_t> before(units_.size(), none);
    for (const Edge& edge : edges_) {
      if (waits_[edge.from] != 0 && waits_[edge.to] != 0) before[edge.to] = edge.from;
    }
    std::uint32_t unit = 0;
    while (waits_[unit] == 0) ++unit;
    for (std::vector<bool> seen(units_.size(), false); !seen[unit]; unit = before[unit]) seen[unit] = true;
    // Operators alone form no ring: some stack is on it.
    while (unit >= stacks_.size()) unit = before[unit];
    return unit;
  }

  std::string stack_text(std::uint32_t unit) const {
    const StackNodes& stack = stacks_[unit];
    if (!stack.name.empty()) return fmt::format("'{}'", stack.name);
    return fmt::format("{} ('{}'{})", unit + 1, graph_[stack.nodes.front()].name, stack.nodes.size() > 1 ? ", …" : "");
  }

  std::string operator_text(std::uint32_t unit, NodeId node) const {
    const std::string& name = graph_[node].name;
    return unit < stacks_.size() ? fmt::format("'{}' of stack {}", name, stack_text(unit)) : fmt::format("'{}'", name);
  }

  Error explain() const {
    const std::uint32_t start = unit_on_ring();
    const std::vector<Edge> ring = ring_through(start);
    MONET_REQUIRE(ring.size() > 1);
    const Place& place = stacks_[start].place;
    const bool alone =
        std::ranges::all_of(ring, [&](const Edge& e) { return e.to == start || e.to >= stacks_.size(); });
    constexpr std::size_t most = 8;
    if (alone) {
      std::vector<std::string> between;
      for (std::size_t i = 0; i + 1 < ring.size() && i < most; ++i) {
        between.push_back(fmt::format("'{}'", graph_[ring[i].reader].name));
      }
      const bool many = ring.size() > 2;
      return {
          .message = fmt::format("stack {} cannot run as one: {}{} {} outside of it and between its operators '{}' "
                                 "and '{}'",
                                 stack_text(start), fmt::join(between, ", "), ring.size() - 1 > most ? ", …" : "",
                                 many ? "are" : "is", graph_[ring.front().maker].name, graph_[ring.back().reader].name),
          .place = place.text(),
          .advice = fmt::format("add {} to the stack, or divide it", many ? "them" : "it")};
    }
    std::vector<std::string> steps;
    bool listed = false;
    for (std::size_t i = 0; i < ring.size() && i < most; ++i) {
      const Edge& edge = ring[i];
      listed |= !edge.maker.valid();
      steps.push_back(edge.maker.valid() ? fmt::format("{} must come before {}", operator_text(edge.from, edge.maker),
                                                       operator_text(edge.to, edge.reader))
                                         : fmt::format("stack {} is listed before stack {}", stack_text(edge.from),
                                                       stack_text(edge.to)));
    }
    return {.message = fmt::format("stacks wait for each other: {}{}", fmt::join(steps, "; "),
                                   ring.size() > most ? "; …" : ""),
            .place = place.text(),
            .advice = listed ? "list them in another order, or choose order: graph" : "divide one of them"};
  }

  const Graph& graph_;
  std::span<const StackNodes> stacks_;
  std::vector<std::vector<NodeId>> units_;  // stacks first, as given
  std::vector<Edge> edges_;                 // by `from`
  std::vector<std::size_t> first_;          // by unit, and one more
  std::vector<std::uint32_t> waits_;        // by unit: edges that lead to it
};

bool can_run_as_listed(const Dependencies& dependencies) {
  for (std::size_t i = 0; i < dependencies.nodes(); ++i) {
    const NodeId node(i);
    if (std::ranges::any_of(dependencies.before(node), [&](NodeId before) { return before > node; })) return false;
  }
  return true;
}

std::vector<std::vector<NodeId>> each_by_itself(const Dependencies& dependencies) {
  std::vector<std::vector<NodeId>> order;
  order.reserve(dependencies.nodes());
  for (std::size_t i = 0; i < dependencies.nodes(); ++i) {
    if (!dependencies.is_view(NodeId(i))) order.push_back({NodeId(i)});
  }
  return order;
}

}  // namespace

Expected<std::vector<std::vector<NodeId>>> run_order(const Graph& graph, const Dependencies& dependencies,
                                                     std::span<const StackNodes> stacks, bool listed) {
  if (stacks.empty() && can_run_as_listed(dependencies)) return each_by_itself(dependencies);
  return Ordering(graph, dependencies, stacks, listed).run();
}

}  // namespace monet
