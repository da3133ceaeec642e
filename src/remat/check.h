// Replays a schedule, sharing nothing with what made it but its form.
#pragma once

#include "remat/schedule.h"

#include <string>

namespace monet::remat {

struct CheckRules {
  std::int64_t budget = 0;
  bool given_order = true;  // first runs are in the given order
};

struct CheckedSchedule {
  std::string fault;  // the rule that was broken, and where; empty: none, and the rest holds

  double compute_time = 0;
  double energy_j = 0;
  std::int64_t peak_bytes = 0;  // transfers take no time: the order of actions alone counts
  double end_time = 0;          // of the last action, with the time of transfers
  std::int64_t timed_peak_bytes = 0;
  std::size_t runs = 0, page_outs = 0, page_ins = 0;
};

// Twice: by the order of the actions, and by their times. Every node is run; operands are in memory from the start of a
// run to its end; a copy is complete before it is read; one run and one transfer at a time; what cannot be recomputed
// runs once; memory is within the budget at every moment, outputs and page-ins counted from their start.
CheckedSchedule check_schedule(const Problem& problem, const Schedule& schedule, const CheckRules& rules);

}  // namespace monet::remat
