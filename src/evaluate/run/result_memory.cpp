#include "evaluate/account/energy.h"
#include "evaluate/account/occupancy.h"
#include "evaluate/account/traffic.h"
#include "evaluate/run/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace monet {

namespace {

// Of all instances that a core has of its own memory.
std::int64_t capacity_bytes(const Hardware& hardware, MemoryId memory) {
  std::int64_t count = 1, users = 0;
  for (const Core& core : hardware.cores) {
    for (const Level& level : core.levels) {
      if (level.memory == memory) count = ++users == 1 ? instances(core, level) : 1;
    }
  }
  return hardware[memory].size_bits * count / 8;
}

void fill_peak(MemoryResult& row, const ScheduledStep& step, const Occupancy& occupancy) {
  row.live_peak_bytes = occupancy.peak_bytes;
  row.peak_at = occupancy.peak_at;
  for (std::size_t role = 0; role < role_count; ++role) {
    if (occupancy.peak_by_role[role] == 0) continue;
    row.peak_by_role.emplace_back(name_of(static_cast<Role>(role)), static_cast<double>(occupancy.peak_by_role[role]));
  }
  for (const Alive& alive : occupancy.alive_at_peak) {
    const bool tensor = alive.tensor.valid();
    std::string name = tensor               ? step.graph[alive.tensor].name
                       : alive.node.valid() ? fmt::format("workspace of {}", step.graph[alive.node].name)
                                            : "workspace";
    row.alive_at_peak.push_back({.name = std::move(name),
                                 .role = std::string(name_of(tensor ? step.graph[alive.tensor].role : Role::workspace)),
                                 .bytes = alive.bytes,
                                 .start = alive.start,
                                 .end = alive.end});
  }
}

void fill_curve(MemoryResult& row, const Occupancy& occupancy) {
  std::vector<std::size_t> roles;
  for (std::size_t role = 0; role < role_count; ++role) {
    if (std::ranges::any_of(occupancy.bytes, [&](const RoleBytes& bytes) { return bytes[role] != 0; })) {
      roles.push_back(role);
      row.roles.emplace_back(name_of(static_cast<Role>(role)));
    }
  }
  row.curve_at = occupancy.at;
  for (const RoleBytes& bytes : occupancy.bytes) {
    std::vector<std::int64_t>& point = row.curve.emplace_back();
    for (const std::size_t role : roles) point.push_back(bytes[role]);
  }
}

}  // namespace

void fill_memories(Evaluation& evaluation, const ScheduledStep& step, const FillOptions& options) {
  const std::vector<Occupancy> occupancy = occupancy_of(step, options.curve_points);
  const std::vector<MemoryBreakdown> traffic = traffic_of(step).memories;
  const std::vector<double> energy = energy_of(step.hardware, step.schedule).memory;
  const std::set<MemoryId> homes(step.schedule.home_of.begin(), step.schedule.home_of.end());
  RoleBytes footprint{};
  for (std::size_t i = 0; i < occupancy.size(); ++i) {
    const MemoryId id(i);
    const bool home = homes.contains(id);
    if (home) {
      for (std::size_t role = 0; role < role_count; ++role) footprint[role] += occupancy[i].peak_by_role[role];
    }
    const bool used =
        occupancy[i].peak_bytes > 0 || energy[i] > 0 || traffic[i].read_bytes + traffic[i].written_bytes > 0;
    if (!home && !used) continue;
    MemoryResult& row = evaluation.memories.emplace_back();
    row.name = step.hardware[id].name;
    row.kind = name_of(step.hardware[id].kind);
    row.capacity_bytes = capacity_bytes(step.hardware, id);
    row.read_bytes = traffic[i].read_bytes;
    row.written_bytes = traffic[i].written_bytes;
    row.energy_pj = energy[i];
    if (options.packed != nullptr) row.packed_peak_bytes = options.packed->peak_bytes[i];
    fill_peak(row, step, occupancy[i]);
    fill_curve(row, occupancy[i]);
  }
  for (std::size_t role = 0; role < role_count; ++role) {
    if (footprint[role] != 0)
      evaluation.footprint_bytes.emplace_back(name_of(static_cast<Role>(role)), footprint[role]);
  }
}

}  // namespace monet
