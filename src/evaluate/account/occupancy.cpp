#include "evaluate/account/occupancy.h"

#include "evaluate/account/downsample.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace monet {

namespace {

struct Held {
  double start, end;
  std::int64_t bytes;
  TensorId tensor;
  NodeId node;
  Role role;
};

struct HeldEvent {
  double time;
  std::int64_t bytes;  // negative: they go
  Role role;
};

Role role_of(const Graph& graph, TensorId tensor) { return tensor.valid() ? graph[tensor].role : Role::workspace; }

TensorId tensor_of(const ScheduledStep& step, const Stay& stay) {
  return stay.buffer.valid() ? step.tiles.buffers[stay.buffer.index()].tensor : TensorId();
}

std::vector<std::vector<Held>> held_in(const ScheduledStep& step) {
  std::vector<std::vector<Held>> memories(step.hardware.memories.size());
  for (const Stay& stay : step.schedule.stays) {
    const TensorId tensor = tensor_of(step, stay);
    const NodeId node = !tensor.valid() && stay.tile.valid() ? step.tiles.node[stay.tile.index()] : NodeId();
    memories[stay.memory.index()].push_back(
        {stay.start, stay.end, stay.bytes, tensor, node, role_of(step.graph, tensor)});
  }
  for (const TensorStay& stay : step.schedule.home) {
    memories[stay.memory.index()].push_back(
        {stay.start, stay.end, stay.bytes, stay.tensor, NodeId(), role_of(step.graph, stay.tensor)});
  }
  return memories;
}

std::vector<HeldEvent> events_of(const std::vector<Held>& held) {
  std::vector<HeldEvent> events;
  events.reserve(2 * held.size());
  for (const Held& h : held) {
    if (h.start >= h.end) continue;
    events.push_back({h.start, h.bytes, h.role});
    events.push_back({h.end, -h.bytes, h.role});
  }
  std::ranges::sort(events, [](const HeldEvent& a, const HeldEvent& b) { return a.time < b.time; });
  return events;
}

// Calls visit for each moment at which something comes or goes, with what is held from then on.
template <class Visit>
void each_moment(const std::vector<HeldEvent>& events, const Visit& visit) {
  RoleBytes held{};
  std::int64_t total = 0;
  for (std::size_t i = 0; i < events.size();) {
    const double time = events[i].time;
    for (; i < events.size() && events[i].time == time; ++i) {
      held[static_cast<std::size_t>(events[i].role)] += events[i].bytes;
      total += events[i].bytes;
    }
    visit(time, held, total);
  }
}

void set_curve(const std::vector<Held>& held, std::size_t points, Occupancy& result) {
  const std::vector<HeldEvent> events = events_of(held);
  std::vector<std::int64_t> totals;
  each_moment(events, [&](double time, const RoleBytes& bytes, std::int64_t total) {
    totals.push_back(total);
    if (total <= result.peak_bytes) return;
    result.peak_bytes = total;
    result.peak_at = time;
    result.peak_by_role = bytes;
  });
  const std::vector<std::size_t> kept = thinned(totals, points);
  std::size_t moment = 0;
  each_moment(events, [&](double time, const RoleBytes& bytes, std::int64_t) {
    if (result.at.size() < kept.size() && kept[result.at.size()] == moment) {
      result.at.push_back(time);
      result.bytes.push_back(bytes);
    }
    ++moment;
  });
}

std::vector<Alive> alive_at(const std::vector<Held>& held, double time) {
  std::map<std::pair<TensorId, NodeId>, Alive> alive;
  for (const Held& h : held) {
    if (h.start > time || h.end <= time) continue;
    const auto [entry, added] = alive.try_emplace({h.tensor, h.node}, Alive{h.tensor, h.node, 0, h.start, h.end});
    Alive& a = entry->second;
    a.bytes += h.bytes;
    a.start = std::min(a.start, h.start);
    a.end = std::max(a.end, h.end);
  }
  std::vector<Alive> result;
  for (const auto& entry : alive) result.push_back(entry.second);
  std::ranges::sort(result, [](const Alive& a, const Alive& b) {
    return std::tuple(-a.bytes, a.tensor, a.node) < std::tuple(-b.bytes, b.tensor, b.node);
  });
  return result;
}

}  // namespace

Role role_of(const ScheduledStep& step, const Stay& stay) { return role_of(step.graph, tensor_of(step, stay)); }
Role role_of(const ScheduledStep& step, const TensorStay& stay) { return role_of(step.graph, stay.tensor); }

std::vector<Occupancy> occupancy_of(const ScheduledStep& step, std::size_t points) {
  std::vector<Occupancy> result;
  for (const std::vector<Held>& held : held_in(step)) {
    Occupancy& occupancy = result.emplace_back();
    set_curve(held, points, occupancy);
    if (occupancy.peak_bytes > 0) occupancy.alive_at_peak = alive_at(held, occupancy.peak_at);
  }
  return result;
}

}  // namespace monet
