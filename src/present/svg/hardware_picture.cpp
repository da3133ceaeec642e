#include "present/svg/hardware_picture.h"

#include "base/quantities.h"

#include <monet/hardware.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

namespace monet {

namespace {

// "chip12/pod3/hbm" -> "chip/pod/hbm": clusters without their numbers, the last part as it is.
std::string path_without_numbers(const std::string& path) {
  std::string key;
  std::size_t start = 0;
  for (std::size_t slash; (slash = path.find('/', start)) != std::string::npos; start = slash + 1) {
    std::size_t end = slash;
    while (end > start && (std::isdigit(static_cast<unsigned char>(path[end - 1])) || path[end - 1] == '_')) --end;
    key += path.substr(start, end - start) + "/";
  }
  return key + path.substr(start);
}

std::string cluster_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string times(std::int64_t count, const std::string& name) {
  return count == 1 ? name : fmt::format("{} x {}", count, name);
}

std::string work_of(const Unit& unit) {
  std::string text;
  for (const UnitDimension& dimension : unit.dimensions) {
    if (dimension.name == "gang") continue;
    text += fmt::format("{}{}{}", text.empty() ? "" : " x ", unit.name == "array" ? dimension.name + " " : "",
                        dimension.size);
  }
  return fmt::format("{} {}{}", unit.name, text, unit.name == "vector" ? " lanes" : "");
}

std::string work_of(const Rate& rate) {
  return fmt::format("{} mac", rate_text(rate.operations_per_s[static_cast<std::size_t>(Count::mac)]));
}

// Rows and columns that the names give ("pe1_3"), else as square as it goes.
void arrange(PictureGroup& group) {
  const std::size_t count = group.names.size();
  std::set<std::pair<int, int>> places;
  int rows = 0, columns = 0;
  for (const std::string& name : group.names) {
    const std::size_t bar = name.rfind('_');
    if (bar == std::string::npos) break;
    std::size_t first = bar;
    while (first > 0 && std::isdigit(static_cast<unsigned char>(name[first - 1]))) --first;
    int row = -1, column = -1;
    std::from_chars(name.data() + first, name.data() + bar, row);
    std::from_chars(name.data() + bar + 1, name.data() + name.size(), column);
    if (row < 0 || column < 0) break;
    places.emplace(row, column);
    rows = std::max(rows, row + 1);
    columns = std::max(columns, column + 1);
  }
  if (places.size() == count && static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) == count) {
    group.rows = static_cast<std::size_t>(rows);
    group.columns = static_cast<std::size_t>(columns);
  } else {
    group.columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
    group.rows = (count + group.columns - 1) / group.columns;
    group.snake = true;  // as long as its wires ask for it
  }
}

class Collector {
 public:
  explicit Collector(const Hardware& hardware) : hardware_(hardware) {}

  Picture collect() {
    picture_.title = hardware_.name;
    picture_.subtitle = hardware_.description;
    collect_memories();
    collect_groups();
    collect_links();
    join_levels();
    return std::move(picture_);
  }

 private:
  bool is_own(const Core& core, MemoryId memory) const { return hardware_[memory].name.starts_with(core.name + "/"); }

  void collect_memories() {
    std::set<MemoryId> own;
    for (const Core& core : hardware_.cores) {
      for (const Level& level : core.levels) {
        if (is_own(core, level.memory)) own.insert(level.memory);
      }
    }
    std::map<std::string, std::int64_t> copies;
    for (std::size_t i = 0; i < hardware_.memories.size(); ++i) {
      const Memory& memory = hardware_.memories[i];
      if (own.contains(MemoryId(i))) continue;
      const std::string key = path_without_numbers(memory.name);
      if (++copies[key] > 1) continue;
      const bool off_chip = memory.kind == MemoryKind::dram || memory.kind == MemoryKind::storage;
      picture_.memories.push_back({key, key, size_text_of_bits(memory.size_bits), memory.kind, off_chip});
    }
    for (PictureMemory& memory : picture_.memories) memory.label = times(copies[memory.key], memory.key);
  }

  void collect_groups() {
    std::set<std::string> clusters;
    for (const Core& core : hardware_.cores) clusters.insert(cluster_of(core.name));
    picture_.chips = static_cast<std::int64_t>(clusters.size());
    if (picture_.chips > 1) picture_.chip_name = cluster_of(path_without_numbers(hardware_.cores.back().name));
    for (std::size_t i = 0; i < hardware_.cores.size(); ++i) {
      const Core& core = hardware_.cores[i];
      const std::size_t index = index_of_group(core);
      PictureGroup& group = picture_.groups[index];
      if (cluster_of(core.name) != first_cluster_[index]) continue;
      position_[i] = group.names.size();
      group.names.push_back(core.name.substr(core.name.rfind('/') + 1));
    }
    for (PictureGroup& group : picture_.groups) {
      group.title = times(static_cast<std::int64_t>(group.names.size()), group.type.substr(group.type.rfind('/') + 1));
      arrange(group);
    }
  }

  std::size_t index_of_group(const Core& core) {
    const auto known = group_.find(core.type);
    if (known != group_.end()) return known->second;
    const std::size_t index = picture_.groups.size();
    group_[core.type] = index;
    first_cluster_.push_back(cluster_of(core.name));
    PictureGroup& group = picture_.groups.emplace_back();
    group.type = core.type;
    for (const Unit& unit : core.units) {
      group.work.push_back(work_of(unit));
      for (const UnitDimension& dimension : unit.dimensions) {
        if (dimension.name == "gang") group.gang = dimension.size;
      }
    }
    if (core.rate) group.work.push_back(work_of(*core.rate));
    for (const Level& level : core.levels) {
      if (!is_own(core, level.memory)) continue;
      const Memory& memory = hardware_[level.memory];
      const std::string name = memory.name.substr(core.name.size() + 1);
      const std::int64_t copies = instances(core, level) / group.gang;
      const std::string size = size_text_of_bits(memory.size_bits);
      group.memories.push_back(
          {name, name, copies > 1 ? fmt::format("{} x {}", copies, size) : size, memory.kind, false});
    }
    std::ranges::reverse(group.memories);
    return index;
  }

  std::size_t node_of(const End& end) const {
    if (end.core.valid()) return group_.at(hardware_[end.core].type);
    return node_of(end.memory);
  }
  // A core's own memory stands for its core.
  std::size_t node_of(MemoryId memory) const {
    const std::string key = path_without_numbers(hardware_[memory].name);
    const auto found = std::ranges::find(picture_.memories, key, &PictureMemory::key);
    if (found != picture_.memories.end())
      return picture_.groups.size() + static_cast<std::size_t>(found - picture_.memories.begin());
    for (const Core& core : hardware_.cores) {
      if (is_own(core, memory)) return group_.at(core.type);
    }
    return 0;
  }

  void collect_links() {
    std::map<std::tuple<bool, std::vector<std::size_t>, std::string>, std::int64_t> nets;
    std::map<std::pair<std::size_t, std::string>, std::int64_t> inner;
    std::vector<std::tuple<bool, std::vector<std::size_t>, std::string>> order;
    for (const Link& link : hardware_.links) {
      const bool bus = link.kind == LinkKind::bus;
      std::set<std::size_t> ends;
      for (const End& end : link.ends) ends.insert(node_of(end));
      const std::string width = bandwidth_text(link.bits_per_cycle);
      if (!bus && ends.size() == 1 && *ends.begin() < picture_.groups.size()) {
        ++inner[{*ends.begin(), width}];
        add_wire(*ends.begin(), link);
        continue;
      }
      const auto key = std::tuple(bus, std::vector<std::size_t>(ends.begin(), ends.end()),
                                  bus ? fmt::format("{} {}", link.name, width) : width);
      if (++nets[key] == 1) order.push_back(key);
    }
    for (const auto& key : order) {
      const auto& [bus, ends, label] = key;
      picture_.nets.push_back({times(nets[key], label), bus ? PictureNet::Kind::bus : PictureNet::Kind::link, ends});
    }
    merge_pairs();
    for (PictureGroup& group : picture_.groups) group.snake = group.snake && is_chain(group);
    for (const auto& [key, count] : inner) {
      std::string& wiring = picture_.groups[key.first].wiring;
      wiring +=
          fmt::format("{}{} {} of {}", wiring.empty() ? "" : ", ", count, count == 1 ? "link" : "links", key.second);
    }
  }

  // Every pair of the same parts: one net.
  void merge_pairs() {
    const std::vector<PictureNet> nets = std::move(picture_.nets);
    picture_.nets.clear();
    for (const PictureNet& net : nets) {
      const auto alike = [&](const PictureNet& other) {
        return other.kind == PictureNet::Kind::link && other.label == net.label && other.ends.size() == 2;
      };
      std::set<std::size_t> ends;
      std::size_t pairs = 0;
      for (const PictureNet& other : nets) {
        if (!alike(other)) continue;
        ends.insert(other.ends.begin(), other.ends.end());
        ++pairs;
      }
      if (!alike(net) || ends.size() < 3 || pairs != ends.size() * (ends.size() - 1) / 2) {
        picture_.nets.push_back(net);
        continue;
      }
      const PictureNet merged{net.label + ", each to each", net.kind, {ends.begin(), ends.end()}};
      if (std::ranges::count(picture_.nets, merged.label, &PictureNet::label) == 0) picture_.nets.push_back(merged);
    }
  }

  // Each core joined to the next: drawn in a snake, neighbours stay neighbours.
  static bool is_chain(const PictureGroup& group) {
    for (std::size_t i = 0; i + 1 < group.names.size(); ++i) {
      const bool joined = std::ranges::any_of(group.wires, [i](const PictureGroup::Wire& wire) {
        return std::min(wire.from, wire.to) == i && std::max(wire.from, wire.to) == i + 1;
      });
      if (!joined) return false;
    }
    return group.names.size() > 1;
  }

  void add_wire(std::size_t group, const Link& link) {
    std::vector<std::size_t> at;
    for (const End& end : link.ends) {
      if (end.core.valid() && position_.contains(end.core.index())) at.push_back(position_.at(end.core.index()));
    }
    if (at.size() == 2) picture_.groups[group].wires.push_back({at[0], at[1]});
  }

  // Memories that a core uses without a link that is drawn.
  void join_levels() {
    const auto joined = [&](std::size_t a, std::size_t b) {
      return std::ranges::any_of(picture_.nets, [&](const PictureNet& net) {
        return std::ranges::count(net.ends, a) > 0 && std::ranges::count(net.ends, b) > 0;
      });
    };
    for (const Core& core : hardware_.cores) {
      const std::size_t group = group_.at(core.type);
      std::size_t below = group;
      for (const Level& level : core.levels) {
        if (is_own(core, level.memory)) continue;
        const std::size_t memory = node_of(level.memory);
        if (!joined(group, memory) && !joined(below, memory)) join(below, memory);
        below = memory;
      }
    }
  }

  // Cores that use a memory directly share its wires.
  void join(std::size_t part, std::size_t memory) {
    if (part < picture_.groups.size()) {
      for (PictureNet& net : picture_.nets) {
        if (net.kind != PictureNet::Kind::direct || net.ends.back() != memory ||
            net.ends.front() >= picture_.groups.size())
          continue;
        net.ends.insert(net.ends.begin(), part);
        std::ranges::sort(net.ends);
        return;
      }
    }
    picture_.nets.push_back({"", PictureNet::Kind::direct, {std::min(part, memory), std::max(part, memory)}});
  }

  const Hardware& hardware_;
  Picture picture_;
  std::map<std::string, std::size_t> group_;     // by type of core
  std::vector<std::string> first_cluster_;       // by group
  std::map<std::size_t, std::size_t> position_;  // of a core in its group, by index in the machine
};

}  // namespace

Picture picture_of(const Hardware& hardware) { return Collector(hardware).collect(); }

}  // namespace monet
