#include "evaluate/account/complete_plan.h"

#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/plan/hash.h"

namespace monet {

Plan complete_plan_of(const ScheduledStep& step, const Plan& plan, const Graph& original) {
  Plan result;
  result.graph_hash = hash_of(original);
  result.hardware_hash = hash_of(step.hardware);
  result.order = plan.order;
  result.transfers = plan.transfers;
  result.lowering = plan.lowering;
  result.expanded = plan.expanded;
  result.tensors = plan.tensors;
  result.parallel = plan.parallel;
  for (const std::vector<NodeId>& nodes : step.assignment.stacks) {
    if (nodes.size() < 2) continue;
    PlannedStack& stack = result.stacks.emplace_back();
    for (NodeId node : nodes) stack.operators.push_back(step.graph[node].name);
  }
  // Of a plan without any a compiler makes its own: one that leaves all operators alone says so of the first.
  if (result.lowering == compiled_lowering && result.stacks.empty() && !plan.stacks.empty())
    result.stacks.emplace_back().operators.push_back(step.graph[step.assignment.stacks.front().front()].name);
  for (std::size_t n = 0; n < step.graph.nodes().size(); ++n) {
    const OperatorAssignment& assigned = step.assignment.operators[n];
    if (assigned.cores.empty()) continue;
    PlannedOperator& op = result.operators.emplace_back();
    op.name = step.graph.nodes()[n].name;
    for (const LoopCut& cut : assigned.cuts) {
      if (cut.pieces > 1) op.split.push_back({cut.loop, cut.pieces});
      if (cut.tile > 0) op.tile.push_back({cut.loop, cut.tile});
    }
    for (CoreId core : assigned.cores) op.cores.push_back(step.hardware[core].name);
    if (assigned.priority != 0) op.priority = assigned.priority;
  }
  return result;
}

}  // namespace monet
