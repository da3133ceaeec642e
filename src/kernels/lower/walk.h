// A lowered step in time: what each launch takes, one after the other.
#pragma once

#include "kernels/law_values.h"
#include "kernels/lower/lowered_step.h"

#include <array>
#include <vector>

namespace monet {

struct StepCosts {
  std::vector<double> us;  // by launch
  std::vector<double> mj;  // by launch
  std::array<double, phase_count> phase_us = {};
  double total_us = 0;
  double total_mj = 0;
  double clock = 1;  // share of the full one that the power limit leaves
};

// The share of cold bytes among those that each launch reads: of operands since whose last use more than `cold_after`
// bytes were touched, in a step that follows on one like it.
void set_cold_shares(LoweredStep& step, double cold_after);

// Requires that cold shares are set. The step draws at most what the board may: else the clock is lower for all of it,
// and launches take longer, but for what memory takes.
StepCosts costs_of(const LoweredStep& step, const KernelLaws& laws);

}  // namespace monet
