// Random plans for a step on a machine: stacks that can run, tiles, splits, cores, order, transfers, and what becomes
// of saved tensors.
#pragma once

#include "evaluate/plan/bind.h"
#include "evaluate/plan/stack_order.h"
#include "evaluate/tiles/build.h"
#include "mapping/operators.h"
#include "mapping/random_cases.h"
#include "training/recompute.h"

#include <algorithm>
#include <map>
#include <string>

namespace monet::test {

// Tensors that are recomputed or paged out, weights and optimizer state that are paged. `graph`: the step before
// anything is recomputed.
inline std::vector<PlannedTensor> random_tensors(Random& random, const Graph& graph, const Hardware& hardware) {
  std::vector<PlannedTensor> planned;
  const double recompute = random.chance(0.3) ? 0.3 : 0;
  const double page = random.chance(0.4) ? 0.4 : 0;
  std::vector<std::string> storage;
  for (const Memory& memory : hardware.memories) {
    if (memory.kind == MemoryKind::storage) storage.push_back(memory.name);
    if (memory.kind == MemoryKind::dram && random.chance(0.1)) storage.push_back(memory.name);
  }
  for (const training::SavedCandidate& saved : training::saved_candidates(graph)) {
    PlannedTensor tensor{.name = graph[saved.tensor].name};
    if (saved.reason.empty() && random.chance(recompute)) {
      tensor.retention = Retention::recompute;
    } else if (!storage.empty() && random.chance(page)) {
      tensor.retention = Retention::page;
      tensor.memory = random.one_of(storage);
    } else {
      continue;
    }
    planned.push_back(tensor);
  }
  const double page_static = !storage.empty() && random.chance(0.4) ? random.one_of<double>({0.2, 0.6, 1}) : 0;
  for (const Tensor& tensor : graph.tensors()) {
    const bool stays =
        tensor.role == Role::weight || tensor.role == Role::master_weight || tensor.role == Role::optimizer_state;
    if (tensor.producer.valid() || !stays || !random.chance(page_static)) continue;
    planned.push_back({.name = tensor.name, .retention = Retention::page, .memory = random.one_of(storage)});
  }
  return planned;
}

class RandomPlan {
 public:
  RandomPlan(Random& random, const Graph& graph, const Hardware& hardware)
      : random_(random), graph_(graph), hardware_(hardware), binder_(graph, hardware), tiling_(graph) {}

  Plan make() {
    Plan plan;
    plan.order = random_.one_of<PlanOrder>(
        {PlanOrder::critical_path, PlanOrder::critical_path, PlanOrder::graph, PlanOrder::listed, PlanOrder::frugal});
    plan.transfers = random_.chance(0.6) ? PlanTransfers::direct : PlanTransfers::memory;
    tiled_ = random_.one_of<double>({0, 0.2, 0.5, 0.9});
    split_ = random_.one_of<double>({0, 0.2, 0.5});
    placed_ = random_.one_of<double>({0, 0.3, 0.9});
    many_ = random_.chance(0.15) ? 64 : 12;
    if (random_.chance(0.6)) add_stacks(plan);
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (!binder_.loops(NodeId(n)).empty()) add_operator(plan, NodeId(n));
    }
    return plan;
  }

 private:
  // Neighbours in the order of the graph, or what a walk along dependencies meets; those that cannot run go away.
  void add_stacks(Plan& plan) {
    std::vector<StackNodes> stacks;
    std::vector<bool> taken(graph_.nodes().size(), false);
    const bool walk = random_.chance(0.4);
    const std::int64_t longest = random_.one_of<std::int64_t>({2, 4, 8});
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (taken[n] || binder_.loops(NodeId(n)).empty() || random_.chance(0.4)) continue;
      StackNodes stack{.name = "s" + std::to_string(stacks.size()), .nodes = {NodeId(n)}, .place = {}};
      taken[n] = true;
      const std::int64_t size = random_.between(2, longest);
      for (std::size_t next = n + 1; next < graph_.nodes().size() && std::ssize(stack.nodes) < size; ++next) {
        if (binder_.loops(NodeId(next)).empty()) continue;
        if (walk) {
          const auto before = binder_.dependencies().before(NodeId(next));
          const bool joined = std::ranges::any_of(
              before, [&](NodeId node) { return std::ranges::find(stack.nodes, node) != stack.nodes.end(); });
          if (taken[next] || !joined || random_.chance(0.3)) continue;
        } else if (taken[next]) {
          break;
        }
        stack.nodes.push_back(NodeId(next));
        taken[next] = true;
      }
      stacks.push_back(stack);
      if (!run_order(graph_, binder_.dependencies(), stacks)) stacks.pop_back();
    }
    // Listed in an order in which they can run.
    if (const auto order = run_order(graph_, binder_.dependencies(), stacks)) {
      for (const std::vector<NodeId>& nodes : *order) {
        const bool is_stack = std::ranges::any_of(stacks, [&](const StackNodes& s) { return s.nodes == nodes; });
        if (!is_stack) continue;
        PlannedStack stack{.name = "s" + std::to_string(plan.stacks.size())};
        for (const NodeId node : nodes) stack.operators.push_back(graph_[node].name);
        if (random_.chance(0.5)) stack.tile = common_tile(nodes);
        plan.stacks.push_back(std::move(stack));
      }
    }
  }

  // Along loops that all members that have them can be cut along.
  std::vector<LoopSize> common_tile(const std::vector<NodeId>& nodes) {
    std::map<Dim, std::pair<bool, std::int64_t>> loops;
    for (const NodeId node : nodes) {
      for (const Loop& loop : binder_.loops(node)) {
        const auto cuttable = tiling_.cuttable(node);
        const bool can = loop.size == 1 ||
                         std::ranges::any_of(cuttable, [&](const CuttableLoop& c) { return c.loop.name == loop.name; });
        auto& [all, size] = loops.try_emplace(loop.name, true, 1).first->second;
        all = all && can;
        size = std::max(size, loop.size);
      }
    }
    std::vector<LoopSize> tile;
    for (const auto& [name, of] : loops) {
      if (of.first && of.second > 1 && random_.chance(0.4)) tile.push_back({name, random_.between(1, of.second)});
    }
    return tile;
  }

  void add_operator(Plan& plan, NodeId node) {
    PlannedOperator entry{.name = graph_[node].name};
    std::vector<CoreId> able;
    const std::vector<Problem> problems = problems_of(graph_, graph_[node]);
    for (std::size_t c = 0; c < hardware_.cores.size(); ++c) {
      const bool numbers = cannot_run(hardware_.cores[c], graph_[node].op, problems).empty() || problems.empty();
      if (numbers && binder_.why_not(CoreId(c), node).empty()) able.emplace_back(c);
    }
    std::int64_t tiles = 1;
    for (const CuttableLoop& loop : tiling_.cuttable(node)) {
      if (random_.chance(tiled_)) {
        const std::int64_t tile = random_.between(1, loop.loop.size);
        const std::int64_t count = (loop.loop.size + tile - 1) / tile;
        if (tiles * count > many_) continue;
        tiles *= count;
        entry.tile.push_back({loop.loop.name, tile});
      }
    }
    std::int64_t pieces = 1;
    for (const CuttableLoop& loop : tiling_.cuttable(node)) {
      if (!random_.chance(split_ / 2)) continue;
      const std::int64_t count = random_.between(1, std::min<std::int64_t>(loop.loop.size, 4));
      if (pieces * count > 8) continue;
      pieces *= count;
      entry.split.push_back({loop.loop.name, count});
    }
    if (!able.empty() && random_.chance(placed_)) {
      random_.shuffle(able);
      const std::int64_t most = std::min<std::int64_t>(std::ssize(able), entry.split.empty() ? 6 : pieces);
      for (std::int64_t i = random_.between(1, most); i > 0; --i) {
        entry.cores.push_back(hardware_[able[static_cast<std::size_t>(i - 1)]].name);
      }
    }
    if (random_.chance(0.1)) entry.priority = static_cast<double>(random_.between(0, 9));
    if (!entry.tile.empty() || !entry.split.empty() || !entry.cores.empty() || entry.priority) {
      plan.operators.push_back(std::move(entry));
    }
  }

  Random& random_;
  const Graph& graph_;
  const Hardware& hardware_;
  Binder binder_;
  TilingGraph tiling_;
  double tiled_ = 0, split_ = 0, placed_ = 0;
  std::int64_t many_ = 12;
};

}  // namespace monet::test
