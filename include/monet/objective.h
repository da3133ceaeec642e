// Objectives of the user's own for searches of plans: a function of what a whole plan costs.
#pragma once

#include <cstdint>
#include <functional>

namespace monet {

struct PlanMetrics {
  double latency_cycles = 0, latency_s = 0;  // 0 s: the machine states no clock
  double energy_pj = 0;
  std::int64_t peak_bytes = 0;  // of the memory of the budget: while searching what is alive, at the end with addresses
};

// What is made small; not a number counts as infinity. Asked by one thread at a time, once for equal metrics.
using PlanObjective = std::function<double(const PlanMetrics&)>;

}  // namespace monet
