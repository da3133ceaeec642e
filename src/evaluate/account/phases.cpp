#include "evaluate/account/phases.h"

#include <algorithm>

namespace monet {

std::array<PhaseBooks, phase_count> phase_books(const ScheduledStep& step, std::span<const OperatorBooks> operators,
                                                const CriticalPath& path, double static_pj, double energy_pj) {
  std::array<PhaseBooks, phase_count> phases;
  std::array<bool, phase_count> seen{};
  double owned_pj = static_pj;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const OperatorBooks& books = operators[i];
    const auto index = static_cast<std::size_t>(step.graph.nodes()[i].phase);
    PhaseBooks& phase = phases[index];
    phase.energy_pj += books.energy_pj();
    owned_pj += books.energy_pj();
    if (books.tiles == 0) continue;
    phase.start = seen[index] ? std::min(phase.start, books.start) : books.start;
    phase.end = std::max(phase.end, books.end);
    phase.busy_cycles += books.busy.cycles;
    phase.macs += books.macs;
    seen[index] = true;
  }
  for (const PathStep& part : path.steps) {
    const Phase phase = part.node.valid() ? step.graph[part.node].phase : Phase::forward;
    phases[static_cast<std::size_t>(phase)].latency_cycles += part.end - part.start;
  }
  if (step.schedule.cycles > 0) {
    for (PhaseBooks& phase : phases) phase.energy_pj += static_pj * (phase.latency_cycles / step.schedule.cycles);
  }
  phases[static_cast<std::size_t>(Phase::forward)].energy_pj += energy_pj - owned_pj;
  return phases;
}

}  // namespace monet
