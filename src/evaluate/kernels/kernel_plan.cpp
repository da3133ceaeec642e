#include "evaluate/kernels/kernel_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

Error cannot(const std::string& what, const Hardware& hardware, std::string advice) {
  return Error{.message = fmt::format("the plan {}, which kernels of {} do not do", what, hardware.name),
               .place = "plan",
               .advice = std::move(advice)};
}

constexpr const char* leave_out = "leave it out of the plan; --lowering nests takes the machine as arrays";

}  // namespace

Status check_kernel_plan(const PlanRequest& request, const Graph& graph, const Hardware& hardware, bool compiled) {
  const CoreId core = kernel_core(hardware);
  if (std::ranges::any_of(request.paged, [](MemoryId memory) { return memory.valid(); }))
    return cannot("pages tensors out", hardware, "recompute them instead: --recompute, or monet checkpoint");
  if (request.plan.order != PlanOrder::critical_path && request.plan.order != PlanOrder::graph)
    return cannot(fmt::format("asks for the order '{}'", name_of(request.plan.order)), hardware, leave_out);
  for (const BoundStack& stack : request.plan.stacks) {
    if (stack.nodes.size() > 1 && !compiled) {
      return cannot(fmt::format("fuses '{}' with others", graph[stack.nodes.front()].name), hardware,
                    "an eager framework runs each operator by itself: use --lowering compiled, or leave them out");
    }
  }
  for (std::size_t n = 0; n < request.plan.operators.size(); ++n) {
    const BoundOperator& said = request.plan.operators[n];
    const std::string& name = graph.nodes()[n].name;
    if (!said.cuts.empty()) return cannot(fmt::format("cuts '{}' into tiles", name), hardware, leave_out);
    for (const CoreId other : said.cores) {
      if (other != core) return cannot(fmt::format("runs '{}' on {}", name, hardware[other].name), hardware, leave_out);
    }
  }
  return Done{};
}

}  // namespace monet
