// Measured training steps whose network a compiler fused, against the preset h200: launches by the policy of
// kernels/compile, costs by laws that were fitted to single kernels of an eager framework.
#include "base/glob.h"
#include "base/try.h"
#include "validate/kernel_steps.h"
#include "validate/validation.h"

#include <algorithm>

namespace monet {

Expected<Validation> validate_h200_compiled(const std::string& data, const ValidateOptions& options) {
  MONET_TRY(std::vector<MeasuredStep> steps, read_compiled_steps(data + "/groundtruth/h200_compiled.csv"));
  const std::string example = steps.empty() ? "" : steps.front().name();
  if (!options.only.empty()) {
    std::erase_if(steps, [&](const MeasuredStep& step) { return !matches(options.only, step.name()); });
    if (steps.empty()) return nothing_matches(options, example);
  }
  MONET_TRY(const KernelMachine machine, KernelMachine::open("h200"));
  Validation validation{.name = "h200-compiled", .rows = {}, .notes = {}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (options.stop && options.stop()) break;
    if (options.progress) options.progress(steps[i].name(), i, steps.size());
    add_step_rows(validation, steps[i], machine.step(steps[i], data, "compiled"));
  }
  validation.notes = {
      "step ms: the measured step replayed as one graph of kernels, against the sum of its launches as a fusing "
      "compiler "
      "makes them; loss and optimizer are not compiled",
      "no law was fitted to kernels of a compiler: theirs are those of element-wise kernels and of sums along rows",
      "step mJ, peak bytes: as of h200",
  };
  return validation;
}

}  // namespace monet
