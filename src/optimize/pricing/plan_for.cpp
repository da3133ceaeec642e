#include "optimize/pricing/plan_for.h"

#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/plan/stack_order.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace monet {

namespace {

constexpr std::uint32_t no_stack = 0xffffffffU;

struct MendedStack {
  PlannedStack planned;
  std::vector<NodeId> nodes;
};

// A stack of which at least one waits for itself, through others; none: all can run.
std::uint32_t stack_in_a_ring(const std::vector<MendedStack>& stacks, const Dependencies& dependencies) {
  const std::size_t nodes = dependencies.nodes();
  std::vector<std::uint32_t> unit(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) unit[n] = n;
  std::size_t units = nodes;
  for (const MendedStack& stack : stacks) {
    for (NodeId node : stack.nodes) unit[node.index()] = static_cast<std::uint32_t>(units);
    ++units;
  }
  std::vector<std::vector<std::uint32_t>> next(units), previous(units);
  std::vector<std::uint32_t> waits(units, 0), wanted(units, 0);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    for (NodeId before : dependencies.before(NodeId(n))) {
      const std::uint32_t from = unit[before.index()];
      if (from == unit[n]) continue;
      next[from].push_back(unit[n]);
      previous[unit[n]].push_back(from);
      ++waits[unit[n]];
      ++wanted[from];
    }
  }
  // What is left when those that can run, and those that nobody waits for, are taken away, lies on a ring or between
  // two of them.
  std::vector<bool> gone(units, false);
  const auto take_away = [&](std::vector<std::uint32_t>& counts, const std::vector<std::vector<std::uint32_t>>& edges,
                             std::vector<std::uint32_t>& others, const std::vector<std::vector<std::uint32_t>>& back) {
    std::vector<std::uint32_t> open;
    for (std::uint32_t u = 0; u < units; ++u) {
      if (!gone[u] && counts[u] == 0) open.push_back(u);
    }
    while (!open.empty()) {
      const std::uint32_t u = open.back();
      open.pop_back();
      gone[u] = true;
      for (std::uint32_t v : edges[u]) {
        if (--counts[v] == 0 && !gone[v]) open.push_back(v);
      }
      for (std::uint32_t v : back[u]) --others[v];
    }
  };
  take_away(waits, next, wanted, previous);
  take_away(wanted, previous, waits, next);
  for (std::uint32_t s = 0; s < stacks.size(); ++s) {
    if (!gone[nodes + s]) return s;
  }
  return no_stack;
}

// As listed, if they can run so; else in an order in which they can.
void put_in_order(std::vector<MendedStack>& stacks, const Graph& graph, const Dependencies& dependencies) {
  std::vector<StackNodes> nodes;
  for (const MendedStack& stack : stacks) nodes.push_back({.name = {}, .nodes = stack.nodes, .place = {}});
  if (run_order(graph, dependencies, nodes, true)) return;
  const auto order = run_order(graph, dependencies, nodes);
  if (!order) return;
  std::vector<std::size_t> position(graph.nodes().size(), 0);
  for (std::size_t i = 0; i < order->size(); ++i) {
    for (NodeId node : (*order)[i]) position[node.index()] = i;
  }
  std::ranges::stable_sort(stacks, {}, [&](const MendedStack& s) { return position[s.nodes.front().index()]; });
}

std::unordered_set<std::string_view> names_of(const Graph& graph) {
  std::unordered_set<std::string_view> names;
  for (const Node& node : graph.nodes()) names.insert(node.name);
  return names;
}

std::vector<PlannedStack> planned_of(std::vector<MendedStack> stacks) {
  std::vector<PlannedStack> result;
  for (MendedStack& stack : stacks) result.push_back(std::move(stack.planned));
  return result;
}

std::vector<PlannedStack> stacks_for(const Plan& plan, const Graph& before, const training::Recomputed& after,
                                     const Dependencies& dependencies) {
  const std::vector<PlannedStack>& stacks = plan.stacks;
  const std::unordered_set<std::string_view> names = names_of(before);
  std::unordered_map<std::string_view, std::uint32_t> stack_of;
  for (std::uint32_t s = 0; s < stacks.size(); ++s) {
    for (const std::string& name : stacks[s].operators) stack_of.emplace(name, s);
  }
  std::vector<MendedStack> mended(2 * stacks.size());
  for (std::size_t n = 0; n < after.graph.nodes().size(); ++n) {
    const NodeId original = after.copy_of[n];
    const Node& node = after.graph.nodes()[n];
    // A plan may name copies, too, by names that no other operator had.
    auto found = original.valid() && names.contains(node.name) ? stack_of.end() : stack_of.find(node.name);
    const bool by_original = found == stack_of.end() && original.valid();
    if (by_original) found = stack_of.find(before[original].name);
    if (found == stack_of.end()) continue;
    MendedStack& stack = mended[found->second + (by_original ? stacks.size() : 0)];
    stack.planned.operators.push_back(node.name);
    if (!dependencies.is_view(NodeId(n))) stack.nodes.push_back(NodeId(n));
  }
  for (std::size_t s = 0; s < mended.size(); ++s) {
    const PlannedStack& from = stacks[s % stacks.size()];
    mended[s].planned.tile = from.tile;
    if (!from.name.empty()) mended[s].planned.name = s < stacks.size() ? from.name : from.name + "~1";
  }
  // A compiler is told of an operator that it must leave alone, and finds out itself what waits for what.
  const bool compiled = plan.lowering == compiled_lowering;
  std::erase_if(mended, [&](const MendedStack& s) {
    return s.nodes.empty() || (s.nodes.size() == 1 && s.planned.tile.empty() && !compiled);
  });
  if (compiled) return planned_of(std::move(mended));
  for (std::uint32_t s = stack_in_a_ring(mended, dependencies); s != no_stack;
       s = stack_in_a_ring(mended, dependencies)) {
    mended.erase(mended.begin() + s);
  }
  if (plan.order == PlanOrder::listed) put_in_order(mended, after.graph, dependencies);
  return planned_of(std::move(mended));
}

// Entries with patterns hold for copies by themselves.
std::vector<PlannedOperator> operators_for(const std::vector<PlannedOperator>& operators, const Graph& before,
                                           const training::Recomputed& after) {
  const std::unordered_set<std::string_view> names = names_of(before);
  std::unordered_set<std::string_view> stated;
  for (const PlannedOperator& op : operators) stated.insert(op.name);
  std::unordered_map<std::string_view, std::vector<NodeId>> now;
  for (std::size_t n = 0; n < after.graph.nodes().size(); ++n) {
    const NodeId original = after.copy_of[n];
    // A dropout is repeated by another operator, which what was said does not suit.
    if (original.valid() && before[original].op != after.graph.nodes()[n].op) continue;
    // By its own name, unless that was another operator's; what is said of it so is all that is said.
    const std::string& own = after.graph.nodes()[n].name;
    const bool by_own = original.valid() && !names.contains(own);
    if (by_own) now[own].push_back(NodeId(n));
    if (by_own && stated.contains(own)) continue;
    now[original.valid() ? before[original].name : own].push_back(NodeId(n));
  }
  std::vector<PlannedOperator> result;
  for (const PlannedOperator& op : operators) {
    if (op.name.find_first_of("*?") != std::string::npos) {
      result.push_back(op);
      continue;
    }
    const auto found = now.find(op.name);
    if (found == now.end()) continue;
    for (NodeId node : found->second) {
      result.push_back(op);
      result.back().name = after.graph[node].name;
    }
  }
  return result;
}

}  // namespace

Plan plan_for(const Plan& plan, const Graph& before, const training::Recomputed& after,
              const Dependencies& dependencies) {
  Plan result = plan;
  result.stacks = stacks_for(plan, before, after, dependencies);
  result.operators = operators_for(plan.operators, before, after);
  return result;
}

Plan without_copies(Plan plan, const Graph& step) {
  const std::unordered_set<std::string_view> names = names_of(step);
  const auto is_gone = [&](const std::string& name) {
    return name.find_first_of("*?") == std::string::npos && !names.contains(name);
  };
  std::erase_if(plan.operators, [&](const PlannedOperator& op) { return is_gone(op.name); });
  for (PlannedStack& stack : plan.stacks) std::erase_if(stack.operators, is_gone);
  std::erase_if(plan.stacks, [](const PlannedStack& stack) { return stack.operators.empty(); });
  return plan;
}

}  // namespace monet
