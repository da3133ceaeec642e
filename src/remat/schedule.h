// A schedule: what happens in which order, and when.
#pragma once

#include "remat/problem.h"

#include <cstdint>
#include <vector>

namespace monet::remat {

enum class ActionKind : std::uint8_t {
  compute,   // takes memory for the output from its start on
  free,      // gives memory back
  page_out,  // copies to storage; memory is held until it is freed
  page_in,   // takes memory from its start on
};

struct Action {
  ActionKind kind = ActionKind::compute;
  NodeIndex node = 0;
  double start = 0;  // in Problem::time_unit
};

// Computations come in the order in which one processor runs them, transfers in the order in which the channel does.
// The order of the list is the one that counts where transfers are thought to take no time; `start` is with their time.
using Schedule = std::vector<Action>;

}  // namespace monet::remat
