// What every memory holds over time, by role, and what is alive where it holds most.
#pragma once

#include "evaluate/account/step.h"

#include <array>
#include <cstdint>
#include <vector>

namespace monet {

using RoleBytes = std::array<std::int64_t, role_count>;  // by Role

// What is alive of a tensor, or of the workspace of an operator's tiles.
struct Alive {
  TensorId tensor;  // not valid: workspace
  NodeId node;      // workspace: whose
  std::int64_t bytes = 0;
  double start = 0, end = 0;  // from the first of its buffers that are alive to the last
};

struct Occupancy {
  std::int64_t peak_bytes = 0;
  double peak_at = 0;  // the first moment of that
  RoleBytes peak_by_role{};
  std::vector<Alive> alive_at_peak;  // the largest first
  // A curve of steps: from at[i] on it holds bytes[i]. The last point is all that is left at the end.
  std::vector<double> at;
  std::vector<RoleBytes> bytes;
};

// By memory; curves of at most `points` points, their highest among them. What ends at a moment leaves before what
// starts there comes. O(s log s) for s stays.
std::vector<Occupancy> occupancy_of(const ScheduledStep& step, std::size_t points);

// Role of what stays; workspace where it is no tensor.
Role role_of(const ScheduledStep& step, const Stay& stay);
Role role_of(const ScheduledStep& step, const TensorStay& stay);

}  // namespace monet
