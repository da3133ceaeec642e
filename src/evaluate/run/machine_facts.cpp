#include "evaluate/run/machine_facts.h"

#include "base/quantities.h"
#include "evaluate/account/width.h"
#include "hardware/part_path.h"
#include "hardware/totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace monet {

namespace {

std::string main_precision(const Schedule& schedule) {
  const std::map<std::string, double> macs = macs_by_precision(schedule);
  const auto most = std::ranges::max_element(macs, {}, [](const auto& entry) { return entry.second; });
  return most == macs.end() ? "" : most->first;
}

// In the order of the machine: home memories, and those that are no core's own.
std::vector<MemoryId> shared_memories(const ScheduledStep& step) {
  const std::set<MemoryId> homes(step.schedule.home_of.begin(), step.schedule.home_of.end());
  const std::set<MemoryId> system = system_memories(step.hardware);
  std::vector<std::size_t> users(step.hardware.memories.size(), 0);
  for (const Core& core : step.hardware.cores) {
    for (const Level& level : core.levels) ++users[level.memory.index()];
  }
  std::vector<MemoryId> shared;
  for (std::size_t i = 0; i < users.size(); ++i) {
    const MemoryId id(i);
    if (homes.contains(id) || users[i] > 1 || (users[i] > 0 && system.contains(id))) shared.push_back(id);
  }
  return shared;
}

// Through its ports, or the links to it where these are narrower.
double bytes_per_cycle(const Hardware& hardware, MemoryId memory) {
  const double ports = port_width(hardware, {memory}).all, links = link_width(hardware, {memory}).all;
  return (links > 0 ? std::min(ports, links) : ports) / 8;
}

// "core pe: memory sram" and "read_energy" give "pe/sram read energy".
std::string name_of(const Origin& origin) {
  std::string name;
  for (std::string_view part : parts_of_path(origin.part)) {
    for (const std::string_view kind : {"core ", "memory "}) {
      if (part.starts_with(kind)) part.remove_prefix(kind.size());
    }
    name += fmt::format("{}{}", name.empty() ? "" : "/", part);
  }
  std::string quantity = origin.quantity;
  std::ranges::replace(quantity, '_', ' ');
  return name.empty() ? quantity : fmt::format("{} {}", name, quantity);
}

std::vector<MachineFacts::Derived> derived_values(const Hardware& hardware, std::size_t most) {
  std::vector<MachineFacts::Derived> values;
  std::set<std::tuple<std::string, std::string, std::string>> known;
  std::size_t left_out = 0;
  for (const Origin& origin : hardware.origins) {
    if (!origin.derived) continue;
    std::string name = name_of(origin);
    if (!known.emplace(name, origin.value, origin.source).second) continue;
    if (values.size() + 1 < most) {
      values.push_back({.name = std::move(name), .value = value_text(origin.value), .source = origin.source});
    } else {
      ++left_out;
    }
  }
  if (left_out > 0) {
    values.push_back({.name = fmt::format("and {} more", left_out),
                      .value = "",
                      .source = fmt::format("monet hardware show {} --values", hardware.name)});
  }
  return values;
}

}  // namespace

std::map<std::string, double> macs_by_precision(const Schedule& schedule) {
  std::vector<double> count(schedule.costs.size(), 0);
  for (const ScheduledTile& tile : schedule.tiles) ++count[tile.cost];
  std::map<std::string, double> macs;
  for (std::size_t i = 0; i < count.size(); ++i) {
    const TileCost& cost = schedule.costs[i];
    if (count[i] * cost.macs > 0) macs[cost.precision] += count[i] * cost.macs;
  }
  return macs;
}

double macs_per_cycle(const Hardware& hardware, const std::string& precision) {
  const bool clocked = hardware.clock_hz > 0;
  const double listed = clocked ? peak_operations(hardware, Count::mac, precision) / (2 * hardware.clock_hz) : 0;
  if (listed > 0) return listed;
  double sum = 0;
  for (const Core& core : hardware.cores) {
    double best = core.rate && clocked
                      ? core.rate->operations_per_s[static_cast<std::size_t>(Count::mac)] / hardware.clock_hz
                      : 0;
    for (const Unit& unit : core.units) {
      const double cycles = unit.cycles[static_cast<std::size_t>(Count::mac)];
      if (cycles > 0 && !composes_macs(unit)) best = std::max(best, static_cast<double>(unit.lanes()) / cycles);
    }
    sum += best;
  }
  return sum;
}

MachineFacts machine_facts(const ScheduledStep& step, std::size_t most) {
  MachineFacts facts;
  facts.peak_macs_per_cycle = macs_per_cycle(step.hardware, main_precision(step.schedule));
  for (const MemoryId memory : shared_memories(step)) {
    const double bytes = bytes_per_cycle(step.hardware, memory);
    if (bytes > 0) facts.roofs.push_back({.memory = step.hardware[memory].name, .bytes_per_cycle = bytes});
  }
  facts.derived = derived_values(step.hardware, most);
  return facts;
}

}  // namespace monet
