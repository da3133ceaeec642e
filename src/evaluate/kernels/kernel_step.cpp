#include "evaluate/kernels/kernel_step.h"

#include "base/try.h"
#include "kernels/laws.h"
#include "kernels/lower/lower.h"

#include <fmt/format.h>

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

void set_costs(KernelStep& step, const KernelLaws& laws) {
  set_cold_shares(step.lowered, laws.memory.cold_after);
  step.costs = costs_of(step.lowered, laws);
  step.memory = allocator_peak(step.lowered, [&](const Kernel& kernel) { return workspace_bytes(laws, kernel); });
}

}  // namespace

KernelStep kernel_step(Graph graph, const KernelLaws& laws, bool tf32) {
  KernelStep step{.graph = std::move(graph), .lowered = {}, .costs = {}, .memory = {}};
  step.lowered = lower(step.graph, {.tf32_products = tf32});
  set_costs(step, laws);
  return step;
}

Expected<KernelStep> compiled_kernel_step(Graph graph, const KernelLaws& laws, const CompileOptions& options) {
  KernelStep step{.graph = std::move(graph), .lowered = {}, .costs = {}, .memory = {}};
  MONET_TRY(CompiledStep compiled, compile(step.graph, laws, options));
  step.lowered = std::move(compiled.lowered);
  step.stacks = std::move(compiled.stacks);
  set_costs(step, laws);
  return step;
}

}  // namespace monet
