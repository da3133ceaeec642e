// All schedules of a small problem, tried: every action at every state.
#pragma once

#include "remat/problem.h"

#include <optional>

namespace monet::test {

struct BruteForceRules {
  std::int64_t budget = 0;
  bool energy = false;      // the price is energy, else computing time
  bool given_order = true;  // of first runs
  bool recompute = true, page = true;
  std::optional<double> deadline;  // of computing time; transfers take none
};

// The least price; none: nothing fits. For at most 8 nodes or so.
std::optional<double> brute_force(const remat::Problem& problem, const BruteForceRules& rules);

}  // namespace monet::test
