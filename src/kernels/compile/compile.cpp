#include "kernels/compile/compile.h"

#include "base/try.h"
#include "kernels/compile/duplicate.h"
#include "kernels/compile/fused.h"
#include "kernels/compile/group.h"
#include "kernels/compile/layout.h"
#include "kernels/compile/padding.h"
#include "kernels/compile/recompute.h"
#include "kernels/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace monet {

namespace {

using compiling::LaunchGroup;
using compiling::Part;
using compiling::PartKind;

// By launch: the stack of its first operator that is in one, counted from 1.
std::vector<std::uint32_t> stacks_by_launch(const LoweredStep& step, const Graph& graph,
                                            const std::vector<OperatorStack>& stacks) {
  std::vector<std::uint32_t> of_node(graph.nodes().size(), 0), result;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    for (NodeId node : stacks[i]) of_node[node.index()] = static_cast<std::uint32_t>(i + 1);
  }
  for (const Launch& launch : step.launches) {
    std::uint32_t stack = 0;
    for (NodeId node : launch.nodes) stack = std::max(stack, of_node[node.index()]);
    result.push_back(stack);
  }
  return result;
}

Error cannot_be_one(const Graph& graph, const LoweredStep& step, const std::vector<Part>& parts, std::uint32_t first,
                    std::uint32_t second) {
  std::string why = why_apart(parts[first], parts[second], step.launches[first], step.launches[second]);
  if (why.empty()) why = "they share no operand, or an operator outside the stack must run between them";
  return {.message = fmt::format("{} and {} cannot be one kernel: {}", graph[step.launches[first].cause].name,
                                 graph[step.launches[second].cause].name, why),
          .place = "stacks",
          .advice = "take one of them out of the stack; without stacks the compiler's policy makes them"};
}

// All operators of a stack are in one group.
Status check_stacks(const Graph& graph, const LoweredStep& step, const std::vector<Part>& parts,
                    const std::vector<LaunchGroup>& groups, const std::vector<std::uint32_t>& stack_of,
                    std::size_t stacks) {
  constexpr std::uint32_t none = 0xffffffffU;
  std::vector<std::uint32_t> group_of(step.launches.size(), none), first(stacks + 1, none);
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    for (std::uint32_t launch : groups[g]) group_of[launch] = g;
  }
  for (std::uint32_t launch = 0; launch < step.launches.size(); ++launch) {
    const std::uint32_t stack = stack_of[launch];
    if (stack == 0) continue;
    if (first[stack] == none) first[stack] = launch;
    if (group_of[first[stack]] != group_of[launch]) return cannot_be_one(graph, step, parts, first[stack], launch);
  }
  return Done{};
}

bool is_view(const Graph& graph, NodeId node) { return family_of(graph[node].op) == OpFamily::view; }

// Plans state no views: a copy that one is made as is no operator of a stack.
std::vector<OperatorStack> stacks_of(const LoweredStep& step, const Graph& graph, const std::vector<Part>& parts,
                                     const std::vector<LaunchGroup>& groups) {
  std::vector<OperatorStack> stacks;
  for (const LaunchGroup& group : groups) {
    OperatorStack stack;
    for (std::uint32_t launch : group) {
      if (parts[launch].kind == PartKind::library) continue;
      stack.insert(stack.end(), step.launches[launch].nodes.begin(), step.launches[launch].nodes.end());
    }
    std::erase_if(stack, [&](NodeId node) { return is_view(graph, node); });
    std::ranges::sort(stack);
    if (stack.size() > 1) stacks.push_back(std::move(stack));
  }
  return stacks;
}

// What a plan states, by launches: of two operators and more.
std::vector<OperatorStack> stated_stacks(const LoweredStep& step, const Graph& graph,
                                         const std::vector<std::uint32_t>& stack_of, std::size_t stacks) {
  std::vector<OperatorStack> stated(stacks + 1);
  for (std::size_t i = 0; i < step.launches.size(); ++i) {
    const std::vector<NodeId>& nodes = step.launches[i].nodes;
    if (stack_of[i] == 0) continue;
    std::ranges::copy_if(nodes, std::back_inserter(stated[stack_of[i]]),
                         [&](NodeId node) { return !is_view(graph, node); });
  }
  std::erase_if(stated, [](const OperatorStack& stack) { return stack.size() < 2; });
  std::ranges::for_each(stated, [](OperatorStack& stack) { std::ranges::sort(stack); });
  std::ranges::sort(stated);
  return stated;
}

// Launches that carry out no operator join others where that shares most: which ones, stacks do not say. Where a plan
// states the policy's stacks, they are in the kernels in which the policy has them.
Expected<std::vector<LaunchGroup>> groups_as_asked(const LoweredStep& step, const Graph& graph,
                                                   const std::vector<Part>& parts, const CompileOptions& options) {
  const std::vector<OperatorStack> stated = options.stacks.value_or(std::vector<OperatorStack>{});
  const std::vector<std::uint32_t> stack_of = stacks_by_launch(step, graph, stated);
  auto policy = compiling::groups_of(step, parts, stack_of, false);
  if (!options.stacks) return policy;
  std::vector<OperatorStack> of_policy = stacks_of(step, graph, parts, policy);
  std::ranges::sort(of_policy);
  if (stated_stacks(step, graph, stack_of, stated.size()) == of_policy) return policy;
  auto groups = compiling::groups_of(step, parts, stack_of, true);
  MONET_RETURN_IF_ERROR(check_stacks(graph, step, parts, groups, stack_of, stated.size()));
  return groups;
}

}  // namespace

Expected<CompiledStep> compile(const Graph& graph, const KernelLaws& laws, const CompileOptions& options) {
  CompiledStep result;
  result.channels_last = compiling::prefers_channels_last(graph);
  LoweredStep step =
      lower(graph, {.tf32_products = options.tf32_products, .in_parts = true, .channels_last = result.channels_last});
  compiling::pad_products(step, laws);
  compiling::recompute_cheap(step, graph);
  compiling::duplicate_cheap(step, graph);
  const std::vector<Part> parts = compiling::parts_of(step, graph);
  MONET_TRY(const std::vector<LaunchGroup> groups, groups_as_asked(step, graph, parts, options));
  result.stacks = stacks_of(step, graph, parts, groups);
  result.lowered = compiling::fused(step, parts, groups, laws);
  return result;
}

}  // namespace monet
