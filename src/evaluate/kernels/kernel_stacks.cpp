#include "evaluate/kernels/kernel_stacks.h"

#include "base/suggest.h"
#include "config/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace monet {

namespace {

Error no_operator(const Graph& graph, const std::string& name, const Place& place) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) names.push_back(node.name);
  const std::string guess = nearest(name, names);
  return error_at(place, fmt::format("there is no operator '{}'", name),
                  guess.empty() ? "`monet inspect --layers` lists them" : fmt::format("did you mean '{}'?", guess));
}

}  // namespace

Expected<std::optional<std::vector<OperatorStack>>> operator_stacks_of(const Plan& plan, const Graph& graph) {
  if (plan.stacks.empty()) return std::optional<std::vector<OperatorStack>>();
  std::unordered_map<std::string_view, NodeId> nodes;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) nodes.emplace(graph.nodes()[i].name, NodeId(i));
  std::vector<bool> taken(graph.nodes().size(), false);
  std::vector<OperatorStack> stacks;
  for (const PlannedStack& planned : plan.stacks) {
    OperatorStack& stack = stacks.emplace_back();
    for (const std::string& name : planned.operators) {
      const auto found = nodes.find(name);
      if (found == nodes.end()) return no_operator(graph, name, planned.place);
      if (taken[found->second.index()]) {
        return error_at(planned.place, fmt::format("'{}' is in two stacks", name), "leave it in one of them");
      }
      taken[found->second.index()] = true;
      stack.push_back(found->second);
    }
    std::ranges::sort(stack);
  }
  return std::optional(std::move(stacks));
}

std::vector<PlannedStack> planned_stacks_of(const std::vector<OperatorStack>& stacks, const Graph& graph) {
  std::vector<PlannedStack> planned;
  for (const OperatorStack& stack : stacks) {
    PlannedStack& to = planned.emplace_back();
    for (NodeId node : stack) to.operators.push_back(graph[node].name);
  }
  return planned;
}

}  // namespace monet
