#include "evaluate/open/kernel_network.h"

#include "base/try.h"
#include "evaluate/kernels/kernel_stacks.h"
#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/open/opened_step.h"
#include "evaluate/plan/rewritten.h"

#include <utility>

namespace monet {

Expected<KernelStep> kernel_step(const Network& network, const StepRequest& options, const Hardware& hardware,
                                 const KernelLaws& laws) {
  MONET_TRY(OpenedStep opened, open_step(network, options, options.inference));
  MONET_TRY(const Plan plan, plan_of(options));
  MONET_TRY(RewrittenStep rewritten, rewritten_step(plan, opened.graph, hardware));
  const bool tf32 = options.products == "tf32" || options.train.precision == "tf32";
  if (options.lowering != compiled_lowering) return kernel_step(std::move(rewritten.graph), laws, tf32);
  CompileOptions how{.tf32_products = tf32};
  MONET_TRY(how.stacks, operator_stacks_of(plan, rewritten.graph));
  return compiled_kernel_step(std::move(rewritten.graph), laws, how);
}

}  // namespace monet
