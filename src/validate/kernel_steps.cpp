#include "validate/kernel_steps.h"

#include "base/try.h"
#include "evaluate/open/kernel_network.h"
#include "validate/validation.h"

#include <monet/machine.h>

#include <fmt/format.h>

namespace monet {

namespace {

// The first products on a stream make workspaces that stay, 32 MiB each for the two libraries of products (PyTorch,
// aten/src/ATen/cuda/CUDABlas.cpp, on this chip): some measured steps hold theirs, most found them made.
bool holds_library_workspace(const MeasuredStep& measured, const AllocatorPeak& modelled) {
  constexpr std::int64_t mebibyte = 1 << 20;
  return measured.static_bytes - modelled.static_bytes >= 60 * mebibyte;
}

}  // namespace

void add_step_rows(Validation& validation, const MeasuredStep& measured, const Expected<KernelStep>& modelled) {
  std::string aside, of_memory;
  double milliseconds = 0, millijoules = 0, bytes = 0;
  if (modelled) {
    milliseconds = modelled->costs.total_us * 1e-3;
    millijoules = modelled->costs.total_mj;
    bytes = static_cast<double>(modelled->memory.peak());
    if (holds_library_workspace(measured, modelled->memory)) {
      of_memory = "60 MiB or more were held before the step beside weights, states and data: a library's first use";
    }
  } else {
    aside = of_memory = fmt::format("cannot be evaluated: {}: {}", modelled.error().place, modelled.error().message);
  }
  validation.rows.push_back({measured.name(), "step ms", measured.step_ms, milliseconds, aside});
  validation.rows.push_back({measured.name(), "step mJ", measured.energy_mj, millijoules, aside});
  validation.rows.push_back(
      {measured.name(), "peak bytes", static_cast<double>(measured.peak_bytes), bytes, of_memory});
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
