#include "evaluate/account/phases.h"

#include <algorithm>

namespace monet {

std::array<PhaseBreakdown, phase_count> phase_breakdowns(const ScheduledStep& step,
                                                         std::span<const OperatorBreakdown> operators,
                                                         const CriticalPath& path, double static_pj, double energy_pj) {
  std::array<PhaseBreakdown, phase_count> phases;
  std::array<bool, phase_count> seen{}, begun{};  // by any operator, by one that begins it
  double owned_pj = static_pj;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const OperatorBreakdown& breakdown = operators[i];
    const auto index = static_cast<std::size_t>(step.graph.nodes()[i].phase);
    PhaseBreakdown& phase = phases[index];
    phase.energy_pj += breakdown.energy_pj();
    owned_pj += breakdown.energy_pj();
    if (breakdown.tiles == 0) continue;
    phase.busy_cycles += breakdown.busy.cycles;
    phase.macs += breakdown.macs;
    phase.end = std::max(phase.end, breakdown.end);
    // What reads nothing may run at any time: it begins no phase, unless there is nothing else in it.
    const bool begins = !step.tiles.reads_of(TileId(step.tiles.operators[i].first)).empty();
    if (begins && begun[index]) {
      phase.start = std::min(phase.start, breakdown.start);
    } else if (begins || !seen[index]) {
      phase.start = breakdown.start;
    }
    seen[index] = true;
    begun[index] = begun[index] || begins;
  }
  for (const PathStep& part : path.steps) {
    const Phase phase = part.node.valid() ? step.graph[part.node].phase : Phase::forward;
    phases[static_cast<std::size_t>(phase)].latency_cycles += part.end - part.start;
  }
  if (step.schedule.cycles > 0) {
    for (PhaseBreakdown& phase : phases) phase.energy_pj += static_pj * (phase.latency_cycles / step.schedule.cycles);
  }
  phases[static_cast<std::size_t>(Phase::forward)].energy_pj += energy_pj - owned_pj;
  return phases;
}

}  // namespace monet
