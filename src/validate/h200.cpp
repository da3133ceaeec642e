// Measured training steps against the preset h200: launches by the lowering, costs by laws that were fitted to single
// kernels. No step was looked at for them.
#include "base/try.h"
#include "evaluate/kernels/kernel_step.h"
#include "validate/kernel_steps.h"
#include "validate/step_groups.h"
#include "validate/validation.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace monet {

namespace {

// Mean error of the peak of each phase.
void add_phases(Validation& validation, const std::vector<MeasuredStep>& steps,
                const std::vector<std::array<std::int64_t, phase_count>>& modelled) {
  constexpr std::array phases = {Phase::forward, Phase::backward, Phase::optimizer};
  for (std::size_t p = 0; p < phases.size(); ++p) {
    ValidationGroup group{.by = "phase", .name = std::string(name_of(phases[p])), .means = {}};
    double sum = 0;
    for (std::size_t i = 0; i < modelled.size(); ++i) {
      const auto bytes = static_cast<double>(modelled[i][static_cast<std::size_t>(phases[p])]);
      const auto measured = static_cast<double>(steps[i].phase_peak_bytes[p]);
      if (bytes <= 0 || measured <= 0) continue;
      sum += 100 * std::abs(bytes / measured - 1);
      ++group.cases;
    }
    if (group.cases == 0) continue;
    group.means.emplace_back("peak bytes", sum / static_cast<double>(group.cases));
    validation.groups.push_back(std::move(group));
  }
}

}  // namespace

Expected<Validation> validate_h200(const std::string& data, const ValidateOptions& options) {
  MONET_TRY(const std::vector<MeasuredStep> steps, wanted_steps(data, options));
  MONET_TRY(const KernelMachine machine, KernelMachine::open("h200"));
  Validation validation{.name = "h200", .rows = {}, .notes = {}};
  std::vector<std::array<std::int64_t, phase_count>> modelled;  // peaks by phase; 0: could not be evaluated
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (options.stop && options.stop()) break;
    if (options.progress) options.progress(steps[i].name(), i, steps.size());
    const Expected<KernelStep> step = machine.step(steps[i], data);
    add_step_rows(validation, steps[i], step);
    modelled.push_back(step ? step->memory.peak_bytes : std::array<std::int64_t, phase_count>{});
  }
  std::vector<MeasuredStep> done(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(modelled.size()));
  validation.groups = groups_of(done, validation);
  add_phases(validation, done, modelled);
  validation.notes = {
      "no coefficient was fitted to a step: what a network shows is what it would show if it were left out",
      "by network, in order: pairs of its steps of which the slower one is modelled slower",
      "phases were measured one by one in memory alone: their times have gaps between kernels",
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
