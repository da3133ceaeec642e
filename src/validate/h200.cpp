// Measured training steps against the preset h200: launches by the lowering, costs by laws that were fitted to single
// kernels. No step was looked at for them.
#include "base/try.h"
#include "evaluate/kernels/kernel_step.h"
#include "validate/kernel_steps.h"
#include "validate/validation.h"

#include <fmt/format.h>

#include <utility>

namespace monet {

namespace {

// The first products on a stream make workspaces that stay, 32 MiB each for the two libraries of products (PyTorch,
// aten/src/ATen/cuda/CUDABlas.cpp, on this chip): some measured steps hold theirs, most found them made. Such a step
// holds at least 60 MiB more before it begins than weights, states and data take.
std::int64_t library_workspace(const MeasuredStep& measured, const AllocatorPeak& modelled) {
  constexpr std::int64_t mebibyte = 1 << 20;
  return measured.static_bytes - modelled.static_bytes >= 60 * mebibyte ? 64 * mebibyte : 0;
}

void add_rows(Validation& validation, const MeasuredStep& measured, const Expected<KernelStep>& modelled) {
  std::string aside;
  double milliseconds = 0, millijoules = 0, bytes = 0, measured_bytes = static_cast<double>(measured.peak_bytes);
  if (modelled) {
    milliseconds = modelled->costs.total_us * 1e-3;
    millijoules = modelled->costs.total_mj;
    bytes = static_cast<double>(modelled->memory.peak());
    measured_bytes -= static_cast<double>(library_workspace(measured, modelled->memory));
  } else {
    aside = fmt::format("cannot be evaluated: {}: {}", modelled.error().place, modelled.error().message);
  }
  validation.rows.push_back({measured.name(), "step ms", measured.step_ms, milliseconds, aside});
  validation.rows.push_back({measured.name(), "step mJ", measured.energy_mj, millijoules, aside});
  validation.rows.push_back({measured.name(), "peak bytes", measured_bytes, bytes, aside});
}

}  // namespace

Expected<Validation> validate_h200(const std::string& data, const ValidateOptions& options) {
  MONET_TRY(const std::vector<MeasuredStep> steps, wanted_steps(data, options));
  MONET_TRY(const KernelMachine machine, KernelMachine::open("h200"));
  Validation validation{.name = "h200", .rows = {}, .notes = {}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (options.stop && options.stop()) break;
    if (options.progress) options.progress(steps[i].name(), i, steps.size());
    add_rows(validation, steps[i], machine.step(steps[i], data));
  }
  validation.notes = {
      "step ms: the measured step replayed as one graph of kernels, against the sum of its launches as an eager "
      "framework makes them",
      "step mJ: of the whole board, against power and energy of the same launches",
      "peak bytes: the largest of the peaks of the three phases, with workspaces of libraries, against what a caching "
      "allocator holds; where a step holds the 64 MiB that libraries of products take once for a stream, less these",
      "tf32: products of fp32 numbers at the rate of tf32; checkpointed: all that residual and transformer blocks save "
      "inside is computed again",
  };
  return validation;
}

}  // namespace monet
