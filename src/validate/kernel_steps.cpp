#include "validate/kernel_steps.h"

#include "base/try.h"
#include "validate/validation.h"

#include <monet/machine.h>

#include <fmt/format.h>

namespace monet {

void add_step_rows(Validation& validation, const MeasuredStep& measured, const Expected<KernelStep>& modelled) {
  std::string aside;
  double milliseconds = 0, millijoules = 0, bytes = 0;
  if (modelled) {
    milliseconds = modelled->costs.total_us * 1e-3;
    millijoules = modelled->costs.total_mj;
    bytes = static_cast<double>(modelled->memory.peak());
  } else {
    aside = fmt::format("cannot be evaluated: {}: {}", modelled.error().place, modelled.error().message);
  }
  validation.rows.push_back({measured.name(), "step ms", measured.step_ms, milliseconds, aside});
  validation.rows.push_back({measured.name(), "step mJ", measured.energy_mj, millijoules, aside});
  validation.rows.push_back({measured.name(), "peak bytes", static_cast<double>(measured.peak_bytes), bytes, aside});
}

Expected<KernelMachine> KernelMachine::open(const std::string& name) {
  KernelMachine result;
  result.name_ = name;
  MONET_TRY(result.hardware_, Machine(name).hardware());
  MONET_TRY(result.laws_, laws_of(*result.hardware_));
  return result;
}

Expected<KernelStep> KernelMachine::step(const MeasuredStep& measured, const std::string& data,
                                         const std::string& lowering) const {
  StepRequest how;
  how.lowering = lowering;
  how.train = train_options_of(measured);
  how.machine = name_;
  if (measured.precision == "tf32") how.products = "tf32";
  if (measured.checkpoint) how.recompute = {"blocks"};
  return kernel_step(model_of(measured, data), how, *hardware_, *laws_);
}

}  // namespace monet
