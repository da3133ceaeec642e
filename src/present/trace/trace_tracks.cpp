#include "present/trace/trace_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace monet {

namespace {

// A bus is a link to many.
std::string track_kind(const ResourceResult& resource) { return resource.kind == "bus" ? "link" : resource.kind; }

}  // namespace

std::string label_of(const TraceEvent& event) {
  if (event.part >= 0) return fmt::format("{} [{}]", event.name, event.part);
  if (event.from.empty()) return event.name;
  return event.name.empty() ? event.kind : fmt::format("{} {}", event.kind, event.name);
}

std::string cause_of(EventWait wait, const std::string& label) {
  switch (wait) {
    case EventWait::nothing: break;
    case EventWait::core: return fmt::format("the core was busy with {}", label);
    case EventWait::data: return fmt::format("waited for {}", label);
    case EventWait::room: return fmt::format("no room before {} was done", label);
  }
  return "";
}

std::string cause_of(const TraceEvent& event, const Evaluation& evaluation) {
  const auto by = static_cast<std::size_t>(event.by);
  return by < evaluation.trace.size() ? cause_of(event.wait, label_of(evaluation.trace[by])) : "";
}

std::vector<TraceTrack> trace_tracks(const Evaluation& evaluation) {
  std::vector<TraceTrack> tracks;
  std::unordered_map<std::string, std::size_t> track_of;
  for (const char* const kind : {"core", "link", "port"}) {
    for (const ResourceResult& resource : evaluation.resources) {
      if (track_kind(resource) != kind) continue;
      track_of.try_emplace(std::string(kind) + " " + resource.name, tracks.size());
      track_of.try_emplace(resource.name, tracks.size());
      tracks.push_back({.name = resource.name, .kind = kind, .events = {}});
    }
  }
  for (std::size_t i = 0; i < evaluation.trace.size(); ++i) {
    const std::string& name = evaluation.trace[i].track;
    const auto [at, is_new] = track_of.try_emplace(name, tracks.size());
    if (is_new) tracks.push_back({.name = name, .kind = "other", .events = {}});
    tracks[at->second].events.push_back(static_cast<std::uint32_t>(i));
  }
  return tracks;
}

std::uint32_t assign_lanes(std::vector<std::uint32_t>& events, std::span<const EventTime> times,
                           std::span<std::uint32_t> lanes) {
  std::ranges::sort(events, {}, [&](std::uint32_t i) { return std::tuple(times[i].start, times[i].end, i); });
  using Busy = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  std::uint32_t count = 0;
  for (const std::uint32_t i : events) {
    while (!busy.empty() && busy.top().first <= times[i].start) {
      free.push(busy.top().second);
      busy.pop();
    }
    if (free.empty()) free.push(count++);
    lanes[i] = free.top();
    free.pop();
    busy.emplace(times[i].end, lanes[i]);
  }
  return count;
}

}  // namespace monet
