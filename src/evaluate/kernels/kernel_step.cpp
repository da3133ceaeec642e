#include "evaluate/kernels/kernel_step.h"

#include "base/try.h"
#include "kernels/laws.h"
#include "kernels/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace monet {

Expected<std::shared_ptr<const KernelLaws>> laws_of(const Hardware& hardware) {
  const CoreId core = kernel_core(hardware);
  if (core.valid()) return hardware[core].kernels;
  return Error{.message = fmt::format("no core of {} is a graphics processor", hardware.name),
               .place = {},
               .advice = "a core is one whose file gives it 'kernels'"};
}

namespace {

void set_costs(KernelStep& step, const KernelLaws& laws, const ChipNetwork* network) {
  set_cold_shares(step.lowered, laws.memory.cold_after);
  step.costs = costs_of(step.lowered, laws);
  step.times = times_of(step.graph, step.lowered, step.costs, network);
  step.memory = allocator_peak(step.lowered, [&](const Kernel& kernel) { return workspace_bytes(laws, kernel); });
}

}  // namespace

KernelStep kernel_step(Graph graph, const KernelLaws& laws, bool tf32, const ChipNetwork* network) {
  KernelStep step{.graph = std::move(graph), .lowered = {}, .costs = {}, .memory = {}};
  step.lowered = lower(step.graph, {.tf32_products = tf32});
  set_costs(step, laws, network);
  return step;
}

Expected<KernelStep> compiled_kernel_step(Graph graph, const KernelLaws& laws, const CompileOptions& options) {
  KernelStep step{.graph = std::move(graph), .lowered = {}, .costs = {}, .memory = {}};
  if (std::ranges::any_of(step.graph.nodes(), [](const Node& node) { return is_collective(node.op); })) {
    return Error{.message = "a fusing compiler's kernels are not known for a step of many chips",
                 .place = "--lowering",
                 .advice = "use --lowering eager with --parallel"};
  }
  MONET_TRY(CompiledStep compiled, compile(step.graph, laws, options));
  step.lowered = std::move(compiled.lowered);
  step.stacks = std::move(compiled.stacks);
  set_costs(step, laws, nullptr);
  return step;
}

}  // namespace monet
