#include "evaluate/kernels/kernel_result.h"

#include <algorithm>
#include <array>
#include <map>

namespace monet {

namespace {

class KernelResult {
 public:
  KernelResult(Evaluation& evaluation, const KernelStep& step, const Hardware& hardware, const KernelLaws& laws)
      : result_(evaluation), step_(step), hardware_(hardware), laws_(laws) {}

  void fill() {
    // What the board's limit takes away is taken from all launches alike.
    double sum_mj = 0;
    for (double mj : step_.costs.mj) sum_mj += mj;
    picojoules_ = sum_mj > 0 ? 1e9 * step_.costs.total_mj / sum_mj : 0;
    result_.nodes = static_cast<std::int64_t>(step_.graph.nodes().size());
    result_.tiles = result_.stacks = static_cast<std::int64_t>(step_.lowered.launches.size());
    result_.latency_cycles = cycles(step_.costs.total_us);
    result_.latency_s = step_.costs.total_us * 1e-6;
    result_.energy_pj = step_.costs.total_mj * 1e9;
    fill_launches();
    fill_core();
    fill_memory();
    fill_bounds();
  }

 private:
  double cycles(double us) const { return us * 1e-6 * hardware_.clock_hz; }
  static Kernel sized(Kernel kernel) {
    derive_sizes(kernel);
    return kernel;
  }

  PhaseResult& phase_of(Phase phase, double now) {
    const std::string name(name_of(phase));
    auto found = std::ranges::find(result_.phases, name, &PhaseResult::phase);
    if (found == result_.phases.end()) {
      found = result_.phases.insert(found, {.phase = name, .start = now, .end = now});
    }
    return *found;
  }

  OperatorResult& operator_of(const Launch& launch, double now) {
    const auto [row, fresh] = rows_.try_emplace(launch.cause, result_.operators.size());
    if (fresh) {
      const Node& node = step_.graph[launch.cause];
      OperatorResult& made = result_.operators.emplace_back();
      made.name = node.name;
      made.op = name_of(node.op);
      made.phase = name_of(node.phase);
      made.recomputed = node.recomputed;
      made.cores = {hardware_.cores.front().name};
      made.start = now;
      made.precision = name_of(launch.kernel.precision);
    }
    return result_.operators[row->second];
  }

  void fill_launches() {
    std::array<double, kernel_kinds> kind_cycles = {}, kind_pj = {};
    double now = 0;
    for (std::size_t i = 0; i < step_.lowered.launches.size(); ++i) {
      const Launch& launch = step_.lowered.launches[i];
      const double taken = cycles(step_.costs.us[i]), pj = step_.costs.mj[i] * picojoules_;
      const double macs = sized(launch.kernel).flops / 2;
      OperatorResult& row = operator_of(launch, now);
      PhaseResult& phase = phase_of(launch.phase, now);
      now += taken;
      ++row.tiles;
      row.end = phase.end = now;
      row.busy_cycles += taken;
      row.compute_cycles += taken;
      row.energy_pj += pj;
      row.compute_pj += pj;
      row.macs += macs;
      for (const Touch& touched : launch.reads) row.home_read_bytes += static_cast<double>(touched.bytes);
      for (const Touch& touched : launch.writes) row.home_write_bytes += static_cast<double>(touched.bytes);
      phase.busy_cycles += taken;
      phase.latency_cycles += taken;
      phase.energy_pj += pj;
      phase.macs += macs;
      result_.macs += macs;
      kind_cycles[static_cast<std::size_t>(launch.kernel.kind)] += taken;
      kind_pj[static_cast<std::size_t>(launch.kernel.kind)] += pj;
      result_.critical_path.push_back({row.name, "compute", now - taken, now});
    }
    for (std::size_t kind = 0; kind < kernel_kinds; ++kind) {
      const std::string name(name_of(static_cast<KernelKind>(kind)));
      if (kind_cycles[kind] > 0) result_.latency_by.emplace_back(name, kind_cycles[kind]);
      if (kind_pj[kind] > 0) result_.energy_by.emplace_back(name, kind_pj[kind]);
    }
    result_.energy = result_.energy_by;
    result_.critical_by_kind = {{"compute", now}};
  }

  void fill_core() {
    ResourceResult core{.name = hardware_.cores.front().name, .kind = "core"};
    core.busy_cycles = core.compute_cycles = result_.latency_cycles;
    core.energy_pj = result_.energy_pj;
    core.utilization = 1;
    result_.resources.push_back(std::move(core));
    const double ceiling = *std::ranges::max_element(laws_.ceiling);
    if (result_.latency_s > 0) result_.utilization = 2 * result_.macs / (result_.latency_s * 1e6 * ceiling);
  }

  // All that is allocated is in the memory behind the caches.
  void fill_memory() {
    const auto home = std::ranges::find(hardware_.memories, MemoryKind::dram, &Memory::kind);
    if (home == hardware_.memories.end()) return;
    MemoryResult row{.name = home->name, .kind = std::string(name_of(home->kind))};
    row.capacity_bytes = home->size_bits / 8;
    row.live_peak_bytes = step_.memory.peak();
    for (std::size_t i = 0; i < step_.memory.largest; ++i) row.peak_at += cycles(step_.costs.us[i]);
    for (const OperatorResult& each : result_.operators) {
      row.read_bytes += each.home_read_bytes;
      row.written_bytes += each.home_write_bytes;
    }
    result_.fits = row.live_peak_bytes <= row.capacity_bytes;
    if (!result_.fits) result_.does_not_fit = row.name + " is too small";
    result_.memories.push_back(std::move(row));
  }

  // Operations at the highest ceiling, and what is there before the step read once at the highest bandwidth.
  void fill_bounds() {
    double us = 0, bytes = 0;
    for (const Launch& launch : step_.lowered.launches) {
      const auto precision = static_cast<std::size_t>(launch.kernel.precision);
      double ceiling = laws_.ceiling[precision];
      for (const StatedPeak& peak : hardware_.peaks) {
        if (peak.precision == name_of(launch.kernel.precision))
          ceiling = std::max(ceiling, peak.operations_per_s / 1e6);
      }
      us += sized(launch.kernel).flops / ceiling;
    }
    for (const Allocation& buffer : step_.lowered.buffers) {
      if (buffer.permanent) bytes += static_cast<double>(buffer.bytes);
    }
    const double rate = std::max(laws_.top_rate, std::max(laws_.memory.memory_rate, laws_.memory.cache_rate));
    result_.bound_cycles = cycles(std::max(us, bytes / rate));
    result_.bound_by = us > bytes / rate ? "operations" : "weights, states and data read once";
  }

  Evaluation& result_;
  const KernelStep& step_;
  const Hardware& hardware_;
  const KernelLaws& laws_;
  double picojoules_ = 0;  // of a millijoule by the laws
  std::map<NodeId, std::size_t> rows_;
};

}  // namespace

void fill(Evaluation& evaluation, const KernelStep& step, const Hardware& hardware, const KernelLaws& laws) {
  KernelResult(evaluation, step, hardware, laws).fill();
}

}  // namespace monet
