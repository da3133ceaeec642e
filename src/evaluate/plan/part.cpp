#include "evaluate/plan/part.h"

#include "base/glob.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

namespace monet {

Plan plan_for_part(Plan plan, const Graph& whole, const Graph& part) {
  std::unordered_set<std::string> here;
  for (const Node& node : part.nodes()) here.insert(node.name);
  std::unordered_set<std::string> left_out;
  for (const Node& node : whole.nodes()) {
    if (!here.contains(node.name)) left_out.insert(node.name);
  }
  // A name of an operator, or a pattern of which only operators that are left out are meant.
  const auto gone = [&](const std::string& name) {
    if (left_out.contains(name)) return true;
    if (name.find_first_of("*?") == std::string::npos) return false;
    const auto matching = [&](const std::string& each) { return matches(name, each); };
    return std::ranges::any_of(left_out, matching) && std::ranges::none_of(here, matching);
  };
  std::erase_if(plan.operators, [&](const PlannedOperator& planned) { return gone(planned.name); });
  for (PlannedStack& stack : plan.stacks) std::erase_if(stack.operators, gone);
  std::erase_if(plan.stacks, [](const PlannedStack& stack) { return stack.operators.empty(); });
  return plan;
}

}  // namespace monet
