// Forward, backward, optimizer: what of the step each of them is.
#pragma once

#include "evaluate/account/critical_path.h"
#include "evaluate/account/operators.h"
#include "evaluate/account/step.h"

#include <array>
#include <span>

namespace monet {

struct PhaseBreakdown {
  // Of its tiles: phases may overlap. Operators that read nothing, such as constants, begin no phase.
  double start = 0, end = 0;
  double busy_cycles = 0;
  double latency_cycles = 0;  // its share of the makespan
  double energy_pj = 0;
  double macs = 0;
};

// The makespan is shared along the critical path: each step of it belongs to the phase of its operator (a transfer:
// that it is for; a wait: that waits), so that the shares add up to the makespan. Energy is that of the operators of a
// phase, with the transfers for them, and static energy by the shares of the makespan; `energy_pj`, the step's, is what
// it adds up to. What belongs to no operator counts as forward.
std::array<PhaseBreakdown, phase_count> phase_breakdowns(const ScheduledStep& step,
                                                         std::span<const OperatorBreakdown> operators,
                                                         const CriticalPath& path, double static_pj, double energy_pj);

}  // namespace monet
