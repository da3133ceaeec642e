// What the end of the step had to wait for, back to its start.
#pragma once

#include "evaluate/account/step.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace monet {

// What time on the path is spent on. The first five are what a tile does.
enum class PathTime : std::uint8_t {
  compute,
  stall,
  load,
  fill,
  slowed,
  fetch,
  write_back,
  core_to_core,
  page_out,
  page_in,
  room,  // until there was room in a memory: what should start had its core and its data
  wait,
};
constexpr std::size_t path_times = 12;
std::string_view name_of(PathTime time);
PathTime time_of(TransferKind kind);

struct PathStep {
  enum class What : std::uint8_t { tile, transfer, room, wait } what = What::wait;
  std::uint32_t index = 0;  // tile or transfer
  NodeId node;              // of the tile; for which the transfer is; room, wait: of what comes next
  double start = 0, end = 0;
};

// Steps follow each other without gaps from 0 to the makespan: where something started later than what it waited for
// had ended, a step `wait` lies between. What waited for room is preceded by a step `room` for as long as its core
// stood still and its data were made, and then by what it waited for before that.
struct CriticalPath {
  std::vector<PathStep> steps;
  std::array<double, path_times> cycles{};  // adds up to the makespan
};

// From what ends last, by `wait` and `by`; a transfer that started later than these say waited for what used one of its
// links or ports until then. `owners` by transfer (owners_of). O(n log n) for n tiles and transfers.
CriticalPath critical_path(const ScheduledStep& step, std::span<const NodeId> owners);

}  // namespace monet
