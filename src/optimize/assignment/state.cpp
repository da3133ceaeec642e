#include "optimize/assignment/state.h"

#include <algorithm>
#include <queue>

namespace monet::assigning {

namespace {

// Nodes in the order in which they would run one after the other: early turns first, and of those the one that was
// possible last, or the first of the graph. By node: its place.
std::vector<std::uint32_t> places_of(const State& state, const Dependencies& dependencies) {
  const std::size_t count = dependencies.nodes();
  std::vector<std::vector<std::uint32_t>> readers(count);
  std::vector<std::uint32_t> waits(count, 0), places(count, 0);
  for (std::uint32_t n = 0; n < count; ++n) {
    for (NodeId before : dependencies.before(NodeId(n))) {
      readers[before.index()].push_back(n);
      ++waits[n];
    }
  }
  struct Open {
    int turn;
    std::uint32_t since, node;
    bool operator<(const Open& other) const {
      if (turn != other.turn) return turn < other.turn;
      if (since != other.since) return since < other.since;
      return node > other.node;
    }
  };
  std::priority_queue<Open> open;
  std::uint32_t now = 0;
  const auto add = [&](std::uint32_t node) {
    const bool latest = state.sequence == Sequence::latest;
    open.push({static_cast<int>(state.turns[node]), latest ? now : 0, node});
  };
  for (std::uint32_t n = 0; n < count; ++n) {
    if (waits[n] == 0) add(n);
  }
  while (!open.empty()) {
    const std::uint32_t node = open.top().node;
    open.pop();
    places[node] = now++;
    for (std::uint32_t reader : readers[node]) {
      if (--waits[reader] == 0) add(reader);
    }
  }
  return places;
}

}  // namespace

State state_of(const Assignment& assignment) {
  State state{.order = assignment.order,
              .transfers = assignment.transfers,
              .turns = std::vector<Turn>(assignment.operators.size(), Turn::usual),
              .operators = assignment.operators,
              .stacks = static_cast<std::uint32_t>(assignment.stacks.size())};
  for (const std::vector<NodeId>& stack : assignment.stacks) {
    if (stack.size() == 1) state.operators[stack.front().index()].stack = no_stack;
  }
  return state;
}

PlanRequest request_of(const State& state, const Graph& graph, const Dependencies& dependencies,
                       const std::vector<MemoryId>& paged) {
  PlanRequest request = empty_request(graph);
  request.paged = paged;
  request.plan.order = state.order;
  request.plan.transfers = state.transfers;
  std::vector<std::uint32_t> places;
  if (state.sequence != Sequence::longest) places = places_of(state, dependencies);
  std::vector<std::uint32_t> members(state.stacks, 0), stack_at(state.stacks, no_stack);
  for (const OperatorAssignment& op : state.operators) {
    if (!op.cores.empty() && op.stack != no_stack) ++members[op.stack];
  }
  for (std::size_t n = 0; n < state.operators.size(); ++n) {
    const OperatorAssignment& from = state.operators[n];
    if (from.cores.empty()) continue;
    BoundOperator& to = request.plan.operators[n];
    to.cuts = from.cuts;
    to.cores = from.cores;
    to.split_stated = true;
    to.tile_stated = std::ranges::any_of(from.cuts, [](const LoopCut& cut) { return cut.tile > 0; });
    if (!places.empty()) {
      to.priority = static_cast<double>(places.size() - places[n]);
    } else if (from.priority != 0) {
      to.priority = from.priority;
    } else if (state.turns[n] != Turn::usual) {
      to.priority = state.turns[n] == Turn::early ? 1 : -1;
    }
    if (from.stack == no_stack || members[from.stack] < 2) continue;
    if (stack_at[from.stack] == no_stack) {
      stack_at[from.stack] = static_cast<std::uint32_t>(request.plan.stacks.size());
      request.plan.stacks.emplace_back();
    }
    to.stack = stack_at[from.stack];
    request.plan.stacks[*to.stack].nodes.push_back(NodeId(n));
  }
  return request;
}

}  // namespace monet::assigning
