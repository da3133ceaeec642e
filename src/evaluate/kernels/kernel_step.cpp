#include "evaluate/kernels/kernel_step.h"

#include "base/try.h"
#include "evaluate/kernels/kernel_stacks.h"
#include "evaluate/open/opened_step.h"
#include "evaluate/plan/hash.h"
#include "evaluate/plan/rewritten.h"
#include "hardware/kernel_defaults.h"
#include "kernels/laws.h"
#include "kernels/lower/lower.h"

#include <utility>

namespace monet {

Expected<std::shared_ptr<const KernelLaws>> laws_of(const Hardware& hardware) {
  for (const Core& core : hardware.cores) {
    if (core.kernels) return core.kernels;
  }
  MONET_TRY(KernelLaws laws, kernel_laws_of(hardware, hardware.cores.front()));
  return std::make_shared<const KernelLaws>(std::move(laws));
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

Expected<KernelStep> kernel_step(const Network& network, const StepRequest& options, const Hardware& hardware,
                                 const KernelLaws& laws) {
  MONET_TRY(OpenedStep opened, open_step(network, options, options.inference));
  MONET_TRY(const Plan plan, plan_of(options));
  MONET_TRY(RewrittenStep rewritten, rewritten_step(plan, opened.graph, hardware));
  const bool tf32 = options.products == "tf32" || options.train.precision == "tf32";
  const std::string graph_hash = hash_of(opened.graph);
  MONET_TRY(std::vector<std::string> warnings, check_hashes(plan, opened.graph, hardware, options.force));
  KernelStep step;
  if (options.lowering == "compiled") {
    CompileOptions how{.tf32_products = tf32};
    MONET_TRY(how.stacks, operator_stacks_of(plan, rewritten.graph));
    MONET_TRY(step, compiled_kernel_step(std::move(rewritten.graph), laws, how));
  } else {
    step = kernel_step(std::move(rewritten.graph), laws, tf32);
  }
  step.graph_hash = graph_hash;
  step.warnings = std::move(warnings);
  return step;
}

}  // namespace monet
