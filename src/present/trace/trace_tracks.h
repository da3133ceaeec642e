// The events of a step by the part of the machine that they happen on, and side by side where they overlap.
#pragma once

#include <monet/evaluate.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monet {

struct TraceTrack {
  std::string name;
  std::string kind;                   // core, link, port, other
  std::vector<std::uint32_t> events;  // in Evaluation::trace
};

// Cores, then links, then ports in the order of the machine, idle ones included; then others as they come.
std::vector<TraceTrack> trace_tracks(const Evaluation& evaluation);

// Why an event began no earlier than the end of the one with this label.
std::string cause_of(EventWait wait, const std::string& label);

struct EventTime {
  std::int64_t start = 0, end = 0;
};

// Sorts the events of a track by time and gives each the lowest lane that is free at its start. Both by event of the
// trace. Returns how many lanes there are. O(e log e).
std::uint32_t assign_lanes(std::vector<std::uint32_t>& events, std::span<const EventTime> times,
                           std::span<std::uint32_t> lanes);

}  // namespace monet
