// Measured training steps against the preset h200: launches by the lowering, costs by laws that were fitted to single
// kernels. No step was looked at for them.
#include "base/try.h"
#include "evaluate/kernels/kernel_step.h"
#include "validate/kernel_steps.h"
#include "validate/validation.h"

#include <utility>

namespace monet {

Expected<Validation> validate_h200(const std::string& data, const ValidateOptions& options) {
  MONET_TRY(const std::vector<MeasuredStep> steps, wanted_steps(data, options));
  MONET_TRY(const KernelMachine machine, KernelMachine::open("h200"));
  Validation validation{.name = "h200", .rows = {}, .notes = {}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (options.stop && options.stop()) break;
    if (options.progress) options.progress(steps[i].name(), i, steps.size());
    add_step_rows(validation, steps[i], machine.step(steps[i], data));
  }
  validation.notes = {
      "step ms: the measured step replayed as one graph of kernels, against the sum of its launches as an eager "
      "framework makes them",
      "step mJ: of the whole board, against power and energy of the same launches",
      "peak bytes: the largest of the peaks of the three phases, with workspaces of libraries, against what a caching "
      "allocator holds; steps that hold the 64 MiB that libraries of products take once for a stream are set aside",
      "tf32: products of fp32 numbers at the rate of tf32; checkpointed: all that residual and transformer blocks save "
      "inside is computed again",
  };
  return validation;
}

}  // namespace monet
