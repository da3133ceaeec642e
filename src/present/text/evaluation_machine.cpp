// What the parts of the machine do during the step: cores, links and ports, memories.
#include "base/quantities.h"
#include "present/text/evaluation.h"

#include <monet/text.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

using Align = Table::Align;

constexpr std::size_t most_machine_rows = 16;

std::string rounded_bytes(double bytes) { return byte_size(static_cast<std::int64_t>(std::llround(bytes))); }

std::string counted(const std::string& group, std::size_t count) {
  return count > 1 ? fmt::format("{} x {}", count, group) : group;
}

// Rows of equal parts, in the order in which each group comes first.
template <class Result>
std::vector<std::pair<std::string, std::vector<const Result*>>> grouped_by(const std::vector<Result>& results,
                                                                           const auto& group_of) {
  std::vector<std::pair<std::string, std::vector<const Result*>>> groups;
  std::map<std::string, std::size_t> index_of;
  for (const Result& result : results) {
    const std::string group = group_of(result);
    if (group.empty()) continue;
    const auto [at, is_new] = index_of.try_emplace(group, groups.size());
    if (is_new) groups.push_back({group, {}});
    groups[at->second].second.push_back(&result);
  }
  return groups;
}

template <class Result, class Number>
auto sum_of(const std::vector<const Result*>& results, Number Result::* member) {
  Number sum = 0;
  for (const Result* result : results) sum += result->*member;
  return sum;
}

template <class Result, class Number>
auto largest_of(const std::vector<const Result*>& results, Number Result::* member) {
  Number largest = 0;
  for (const Result* result : results) largest = std::max(largest, result->*member);
  return largest;
}

double part_named(const Parts& parts, const std::string& name) {
  double sum = 0;
  for (const auto& [part, value] : parts) sum += part == name ? value : 0;
  return sum;
}

}  // namespace

CoreTypes::CoreTypes(const Evaluation& evaluation) {
  std::map<std::string, std::size_t> count;
  for (const ResourceResult& resource : evaluation.resources)
    if (resource.kind == "core") ++count[resource.type];
  for (const ResourceResult& resource : evaluation.resources) {
    if (resource.kind == "core" && !resource.type.empty() && count[resource.type] > 1)
      type_of_[resource.name] = resource.type;
  }
}

std::string CoreTypes::group_of(const std::string& name) const {
  for (std::size_t end = name.size(); end != std::string::npos && end > 0; end = name.rfind('/', end - 1)) {
    const auto found = type_of_.find(std::string_view(name).substr(0, end));
    if (found != type_of_.end()) return found->second + name.substr(end);
  }
  return name;
}

std::string CoreTypes::text_of(const std::vector<std::string>& cores) const {
  if (cores.empty()) return "";
  if (cores.size() == 1) return cores.front();
  const std::string type = group_of(cores.front());
  if (std::ranges::all_of(cores, [&](const std::string& core) { return group_of(core) == type; }))
    return fmt::format("{} {}", cores.size(), type);
  return fmt::format("{} and {} more", cores.front(), cores.size() - 1);
}

Text cores_text(const Evaluation& evaluation) {
  const CoreTypes types(evaluation);
  const auto groups = grouped_by(evaluation.resources, [&](const ResourceResult& resource) {
    return resource.kind == "core" ? types.group_of(resource.name) : "";
  });
  if (groups.empty() || evaluation.latency_cycles <= 0) return "";
  std::vector<std::string> waits;
  for (const auto& [group, cores] : groups) {
    for (const ResourceResult* core : cores) {
      for (const auto& [cause, cycles] : core->idle_by)
        if (std::ranges::find(waits, cause) == waits.end()) waits.push_back(cause);
    }
  }
  std::vector<Table::Column> columns = {
      {"cores, share of the step"}, {"busy", Align::right},   {"computing", Align::right}, {"stalled", Align::right},
      {"loading", Align::right},    {"slowed", Align::right}, {"idle", Align::right}};
  for (const std::string& cause : waits) columns.push_back({"| " + cause, Align::right});
  columns.push_back({"energy", Align::right});
  Table table(std::move(columns));
  for (const auto& [group, cores] : groups) {
    const double whole = evaluation.latency_cycles * static_cast<double>(cores.size());
    const double loading = sum_of(cores, &ResourceResult::load_cycles) + sum_of(cores, &ResourceResult::fill_cycles);
    std::vector<std::string> cells = {counted(group, cores.size()),
                                      share_text(sum_of(cores, &ResourceResult::busy_cycles), whole),
                                      share_text(sum_of(cores, &ResourceResult::compute_cycles), whole),
                                      share_text(sum_of(cores, &ResourceResult::stall_cycles), whole),
                                      share_text(loading, whole),
                                      share_text(sum_of(cores, &ResourceResult::slowed_cycles), whole),
                                      share_text(sum_of(cores, &ResourceResult::idle_cycles), whole)};
    for (const std::string& cause : waits) {
      double cycles = 0;
      for (const ResourceResult* core : cores) cycles += part_named(core->idle_by, cause);
      cells.push_back(share_text(cycles, whole));
    }
    cells.push_back(energy_text(sum_of(cores, &ResourceResult::energy_pj)));
    table.add(std::move(cells));
  }
  return "\n" + table;
}

Text links_text(const Evaluation& evaluation) {
  const CoreTypes types(evaluation);
  auto groups = grouped_by(evaluation.resources, [&](const ResourceResult& resource) {
    return resource.kind == "core" ? "" : resource.type.empty() ? types.group_of(resource.name) : resource.type;
  });
  const std::size_t all = groups.size();
  std::erase_if(groups, [](const auto& group) { return sum_of(group.second, &ResourceResult::bytes) == 0; });
  if (groups.empty()) return "";
  const std::size_t used = groups.size();
  std::ranges::stable_sort(groups, std::ranges::greater(),
                           [](const auto& group) { return largest_of(group.second, &ResourceResult::utilization); });
  const TimeText time(evaluation.clock_hz);
  Table table({{"links and ports"},
               {"kind"},
               {"traffic", Align::right},
               {"busy", Align::right},
               {"used", Align::right},
               {"energy", Align::right}});
  const std::size_t shown = std::min(used, most_machine_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [group, parts] = groups[i];
    const auto count = static_cast<double>(parts.size());
    const double mean = sum_of(parts, &ResourceResult::utilization) / count;
    const double most = largest_of(parts, &ResourceResult::utilization);
    table.add({counted(group, parts.size()), parts.front()->kind, rounded_bytes(sum_of(parts, &ResourceResult::bytes)),
               time(sum_of(parts, &ResourceResult::busy_cycles) / count),
               parts.size() == 1 ? share_text(most, 1)
                                 : fmt::format("{}, at most {}", share_text(mean, 1), share_text(most, 1)),
               energy_text(sum_of(parts, &ResourceResult::energy_pj))});
  }
  Text text = "\n" + table;
  if (shown < used) text += fmt::format("and {} more in use\n", used - shown);
  if (used < all) text += fmt::format("{} not used\n", all - used);
  return text;
}

Text memories_text(const Evaluation& evaluation) {
  const CoreTypes types(evaluation);
  auto groups =
      grouped_by(evaluation.memories, [&](const MemoryResult& memory) { return types.group_of(memory.name); });
  std::erase_if(groups, [](const auto& group) {
    return largest_of(group.second, &MemoryResult::live_peak_bytes) == 0 &&
           sum_of(group.second, &MemoryResult::read_bytes) + sum_of(group.second, &MemoryResult::written_bytes) == 0 &&
           sum_of(group.second, &MemoryResult::energy_pj) == 0;
  });
  if (groups.empty()) return "";
  Table table({{"memories"},
               {"kind"},
               {"size", Align::right},
               {"live peak", Align::right},
               {"packed", Align::right},
               {"full", Align::right},
               {"read", Align::right},
               {"written", Align::right},
               {"energy", Align::right}});
  const std::size_t shown = std::min(groups.size(), 2 * most_machine_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [group, memories] = groups[i];
    const auto capacity = memories.front()->capacity_bytes;
    const auto live = largest_of(memories, &MemoryResult::live_peak_bytes);
    const auto packed = largest_of(memories, &MemoryResult::packed_peak_bytes);
    // What moves inside a core is part of its tiles: it costs energy, and is not counted in bytes.
    const auto moved = [&](double MemoryResult::* bytes) {
      const double sum = sum_of(memories, bytes);
      return sum > 0 ? rounded_bytes(sum) : std::string("-");
    };
    table.add({counted(group, memories.size()), memories.front()->kind, capacity > 0 ? byte_size(capacity) : "",
               byte_size(live), packed > 0 ? byte_size(packed) : "",
               share_text(static_cast<double>(std::max(live, packed)), static_cast<double>(capacity)),
               moved(&MemoryResult::read_bytes), moved(&MemoryResult::written_bytes),
               energy_text(sum_of(memories, &MemoryResult::energy_pj))});
  }
  return "\n" + table + (shown < groups.size() ? fmt::format("and {} more\n", groups.size() - shown) : "");
}

Text peak_text(const Evaluation& evaluation, const EvaluateView& view) {
  const auto outer = outer_memories(evaluation);
  if (outer.empty() || outer.front()->live_peak_bytes == 0) return "";
  const auto too_small = std::ranges::find_if(evaluation.memories, [](const MemoryResult& each) {
    return each.capacity_bytes > 0 && std::max(each.live_peak_bytes, each.packed_peak_bytes) > each.capacity_bytes;
  });
  const MemoryResult& memory = too_small == evaluation.memories.end() ? *outer.front() : *too_small;
  const TimeText time(evaluation.clock_hz);
  const auto peak = static_cast<double>(memory.live_peak_bytes);
  Text text;
  if (!memory.peak_by_role.empty()) {
    Table table({{fmt::format("{} at its peak, {} after the start", memory.name, time(memory.peak_at))},
                 {"", Align::right},
                 {"", Align::right}});
    for (const auto& [role, bytes] : memory.peak_by_role)
      if (bytes > 0) table.add({role, rounded_bytes(bytes), share_text(bytes, peak)});
    text += "\n" + table;
  }
  if (memory.alive_at_peak.empty()) return text;
  Table table(
      {{"alive then"}, {"role"}, {"", Align::right}, {"", Align::right}, {"from", Align::right}, {"to", Align::right}});
  const std::size_t all = memory.alive_at_peak.size();
  const std::size_t shown = view.tensors == 0 ? all : std::min(all, view.tensors);
  for (std::size_t i = 0; i < shown; ++i) {
    const LiveTensor& tensor = memory.alive_at_peak[i];
    table.add({tensor.name, tensor.role, byte_size(tensor.bytes), share_text(static_cast<double>(tensor.bytes), peak),
               time(tensor.start), time(tensor.end)});
  }
  text += "\n" + table;
  if (shown < all) text += fmt::format("and {} more; --tensors 0 shows all\n", all - shown);
  return text;
}

}  // namespace monet
