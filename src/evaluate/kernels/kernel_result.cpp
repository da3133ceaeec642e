#include "evaluate/kernels/kernel_result.h"

#include "evaluate/kernels/kernel_bound.h"

#include <fmt/format.h>

#include <array>

namespace monet {

namespace {

void set_by_kind(Evaluation& evaluation, const KernelStep& step) {
  std::array<double, kernel_kinds> us{}, mj{};
  double exposed_us = 0, network_mj = 0;
  for (const Exchange& exchange : step.times.exchanges) {
    exposed_us += exchange.exposed_us;
    network_mj += step.costs.mj[exchange.launch];
  }
  for (std::size_t i = 0; i < step.lowered.launches.size(); ++i) {
    if (step.lowered.launches[i].collective) continue;
    const auto kind = static_cast<std::size_t>(step.lowered.launches[i].kernel.kind);
    us[kind] += step.times.end_us[i] - step.times.start_us[i];
    mj[kind] += step.costs.mj[i];
  }
  evaluation.latency_by.clear();
  evaluation.energy_by.clear();
  for (std::size_t kind = 0; kind < kernel_kinds; ++kind) {
    const std::string name(name_of(static_cast<KernelKind>(kind)));
    if (us[kind] > 0) evaluation.latency_by.emplace_back(name, us[kind] * 1e-6 * evaluation.clock_hz);
    if (mj[kind] > 0) evaluation.energy_by.emplace_back(name, mj[kind] * 1e9);
  }
  if (exposed_us > 0) evaluation.latency_by.emplace_back("network", exposed_us * 1e-6 * evaluation.clock_hz);
  if (network_mj > 0) {
    evaluation.energy_by.emplace_back("network", network_mj * 1e9);
    evaluation.energy_pj += network_mj * 1e9;
  }
  evaluation.energy = evaluation.energy_by;
}

}  // namespace

void fill_kernels(Evaluation& evaluation, const KernelStep& step, const Hardware& hardware) {
  const KernelLaws& laws = *hardware[kernel_core(hardware)].kernels;
  set_by_kind(evaluation, step);
  const double compulsory = compulsory_us(hardware, step, laws) * 1e-6 * hardware.clock_hz;
  if (compulsory > evaluation.bound_cycles) {
    evaluation.bound_cycles = compulsory;
    evaluation.bound_by = "weights, states and data read once";
  }
  evaluation.bound_pj = 0;
  // Blocks as the caching allocator has them: no other addresses are made up.
  for (MemoryResult& memory : evaluation.memories) memory.packed_peak_bytes = memory.live_peak_bytes;
  if (step.costs.clock < 1) {
    evaluation.notes.push_back(
        fmt::format("at full clock all kernels together draw more than the {:.0f} W of {}: they run at {:.1f} % of it",
                    laws.energy.limit_w, hardware.name, 100 * step.costs.clock));
  }
  if (evaluation.energy_pj <= 0)
    evaluation.notes.push_back(fmt::format("{} states no energy of kernels: none is counted", hardware.name));
}

}  // namespace monet
