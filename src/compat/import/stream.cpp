#include "compat/import/stream.h"

#include "base/try.h"
#include "compat/import/core_files.h"
#include "compat/import/foreign_system.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace monet {

namespace {

constexpr std::int64_t most_core_id = 4095;
constexpr std::int64_t most_link_width = std::int64_t{1} << 40;

// One of the system's cores: the place of its name, and its file.
struct Part {
  const YamlNode* at = nullptr;
  std::string file;  // where it was found
};

// Cores whose top memories are one.
struct Group {
  std::vector<std::int64_t> ids;
  std::vector<MemoryId> memories;  // for each top level
};

// The levels above which no other holds any of their paths.
std::vector<std::size_t> top_levels(const Core& core) {
  std::vector<std::size_t> tops;
  for (std::size_t i = 0; i < core.levels.size(); ++i) {
    bool covered = false;
    for (std::size_t above = i + 1; above < core.levels.size(); ++above)
      for (std::size_t p = 0; p < path_count; ++p)
        covered |= core.levels[i].holds(static_cast<Path>(p)) && core.levels[above].holds(static_cast<Path>(p));
    if (!covered) tops.push_back(i);
  }
  return tops;
}

bool same_port(const Port& a, const Port& b) {
  return a.name == b.name && a.kind == b.kind && a.min_bits == b.min_bits && a.max_bits == b.max_bits;
}

// What two memories that are to be one differ in; empty: nothing.
std::string difference(const Memory& a, const Memory& b) {
  if (a.name != b.name) return "name";
  if (a.size_bits != b.size_bits) return "size";
  if (a.read_pj != b.read_pj) return "r_cost";
  if (a.write_pj != b.write_pj) return "w_cost";
  if (a.latency_cycles != b.latency_cycles) return "latency";
  if (!std::equal(a.ports.begin(), a.ports.end(), b.ports.begin(), b.ports.end(), same_port)) return "ports";
  return {};
}

class SystemReader {
 public:
  SystemReader(const YamlDocument& document, const std::string& path, const FileReader& read)
      : root_(document.root), build_(""), files_(path, read) {
    build_.hardware.notes = document.repeated;
  }

  Expected<StreamSystem> read() {
    static const std::vector<std::string> keys = {"name",
                                                  "cores",
                                                  "offchip_core",
                                                  "offchip_core_id",
                                                  "core_connectivity",
                                                  "core_memory_sharing",
                                                  "bandwidth",
                                                  "unit_energy_cost",
                                                  "core_coordinates",
                                                  "technology_node",
                                                  "operand_precision",
                                                  "memory_aliases"};
    MONET_RETURN_IF_ERROR(allow_keys(root_, "a system file", keys));
    MONET_TRY(const YamlNode* name, require_key(root_, "a system file", "name"));
    MONET_TRY(build_.hardware.name, yaml_word(*name, "name"));
    if (const YamlNode* cost = root_.find("unit_energy_cost"); cost != nullptr && !cost->is_null()) {
      MONET_TRY(link_energy_, yaml_number(*cost, "unit_energy_cost"));
    }
    MONET_RETURN_IF_ERROR(read_unused());
    MONET_RETURN_IF_ERROR(read_cores());
    build_.add_notes("", files_.notes());
    MONET_RETURN_IF_ERROR(read_sharing());
    MONET_RETURN_IF_ERROR(add_parts());
    MONET_RETURN_IF_ERROR(connect());
    if (implicit_offchip_) connect_offchip();
    build_.hardware.notes.emplace_back("no clock is stated: times are in cycles");
    return StreamSystem{.hardware = std::move(build_.hardware), .parts = std::move(ends_)};
  }

 private:
  Status read_unused() {
    if (const YamlNode* node = root_.find("technology_node"); node != nullptr && !node->is_null()) {
      MONET_TRY(const std::string text, yaml_word(*node, "technology_node"));
      YamlNode number = *node;
      number.text =
          text.substr(text.find_first_of("0123456789") == std::string::npos ? 0 : text.find_first_of("0123456789"));
      if (number.text.ends_with("nm")) number.text.resize(number.text.size() - 2);
      MONET_TRY(build_.hardware.technology_nm, yaml_number(number, "technology_node"));
    }
    for (const char* key : {"core_coordinates", "operand_precision", "memory_aliases"})
      if (root_.find(key) != nullptr) build_.hardware.notes.push_back(fmt::format("'{}' is not used", key));
    return Done{};
  }

  Status read_cores() {
    MONET_TRY(const YamlNode* cores, require_key(root_, "a system file", "cores"));
    MONET_RETURN_IF_ERROR(expect_map(*cores, "cores"));
    if (cores->items.empty()) return cores->error("the system has no core", "write '0: core.yaml'");
    for (std::size_t i = 0; i < cores->items.size(); ++i) {
      MONET_TRY(const std::int64_t id, yaml_integer(cores->keys[i], "the id of a core", 0, most_core_id));
      if (parts_.contains(id))
        return cores->keys[i].error(fmt::format("there are two cores {}", id), "number them anew");
      MONET_RETURN_IF_ERROR(read_part(id, cores->items[i]));
    }
    if (const YamlNode* file = root_.find("offchip_core"); file != nullptr && !file->is_null()) {
      implicit_offchip_ = true;
      offchip_ = parts_.rbegin()->first + 1;
      return read_part(*offchip_, *file);
    }
    if (const YamlNode* node = root_.find("offchip_core_id"); node != nullptr && !node->is_null()) {
      MONET_TRY(offchip_, yaml_integer(*node, "offchip_core_id", 0, most_core_id));
      if (!parts_.contains(*offchip_))
        return node->error(fmt::format("there is no core {}", *offchip_), "name one of the keys of 'cores'");
    }
    return Done{};
  }

  Status read_part(std::int64_t id, const YamlNode& at) {
    MONET_TRY(const std::string name, yaml_word(at, fmt::format("the file of core {}", id)));
    parts_[id].at = &at;
    MONET_TRY(parts_[id].file, files_.find(name, at));
    return Done{};
  }

  const ZigzagCore& file_of(std::int64_t id) const { return files_[parts_.at(id).file]; }

  Expected<std::vector<std::int64_t>> read_ids(const YamlNode& node, const std::string& what) const {
    MONET_TRY(const auto words, yaml_parts(node, what));
    std::vector<std::int64_t> ids;
    for (std::size_t i = 0; i < words.size(); ++i) {
      YamlNode word = node.is_sequence() ? node.items[i] : node;
      word.text = words[i];
      MONET_TRY(const std::int64_t id, yaml_integer(word, what, 0, most_core_id + 1));
      if (!parts_.contains(id))
        return word.error(fmt::format("there is no core {}", id), "name one of the keys of 'cores'");
      if (std::find(ids.begin(), ids.end(), id) != ids.end())
        return word.error(fmt::format("core {} is named twice", id), "name each core once");
      ids.push_back(id);
    }
    if (ids.size() < 2) return node.error(fmt::format("{} joins fewer than two cores", what), "name at least two");
    return ids;
  }

  Status read_sharing() {
    const YamlNode* list = root_.find("core_memory_sharing");
    if (list == nullptr || list->is_null()) return Done{};
    MONET_RETURN_IF_ERROR(expect_sequence(*list, "core_memory_sharing"));
    for (const YamlNode& node : list->items) {
      Group group;
      MONET_TRY(group.ids, read_ids(node, "a group of core_memory_sharing"));
      MONET_RETURN_IF_ERROR(check_group(node, group));
      const ZigzagCore& first = file_of(group.ids[0]);
      for (const std::size_t top : top_levels(first.core))
        group.memories.push_back(build_.add_memory(first.memories[top], first.memories[top].name));
      for (const std::int64_t id : group.ids) {
        if (!group_of_.emplace(id, groups_.size()).second)
          return node.error(fmt::format("core {} is in two groups of core_memory_sharing", id), "merge the groups");
      }
      groups_.push_back(std::move(group));
    }
    return Done{};
  }

  Status check_group(const YamlNode& node, const Group& group) const {
    const ZigzagCore& first = file_of(group.ids[0]);
    const auto tops = top_levels(first.core);
    for (const std::int64_t id : group.ids) {
      const ZigzagCore& other = file_of(id);
      const auto others = top_levels(other.core);
      std::string wrong = tops.size() == others.size() ? "" : "number";
      for (std::size_t i = 0; i < tops.size() && wrong.empty(); ++i)
        wrong = difference(first.memories[tops[i]], other.memories[others[i]]);
      if (!wrong.empty()) {
        return node.error(
            fmt::format("cores {} and {} share their top memory, but it differs in {}", group.ids[0], id, wrong),
            "describe it equally in both core files");
      }
      if (id == offchip_) return node.error("the off-chip memory cannot be shared in this way", "connect it instead");
    }
    return Done{};
  }

  // Cores of one file follow each other, in the order in which the files first occur.
  Status add_parts() {
    std::vector<std::string> order;
    std::map<std::string, std::vector<std::int64_t>> ids;
    for (const auto& [id, part] : parts_) {
      if (!ids.contains(part.file)) order.push_back(part.file);
      ids[part.file].push_back(id);
    }
    std::set<std::string> types;
    for (const std::string& file : order) {
      const std::string stem = foreign_name(std::filesystem::path(file).stem().string());
      std::string type = stem;
      for (int i = 1; !types.insert(type).second; ++i) type = fmt::format("{}_{}", stem, i);
      const ZigzagCore& core = files_[file];
      const bool computes = core.computes && core.kind == "compute";
      for (std::size_t i = 0; i < ids[file].size(); ++i) {
        const std::int64_t id = ids[file][i];
        if (!computes || id == offchip_) {
          MONET_RETURN_IF_ERROR(add_memory_part(id, core));
          continue;
        }
        const std::string name = ids[file].size() > 1 ? fmt::format("{}{}", type, i) : type;
        std::vector<MemoryId> shared(core.core.levels.size());
        if (const auto group = group_of_.find(id); group != group_of_.end()) {
          const auto tops = top_levels(core.core);
          for (std::size_t t = 0; t < tops.size(); ++t) shared[tops[t]] = groups_[group->second].memories[t];
        }
        ends_[id] = {.core = build_.add_core(core, name, type, shared), .memory = {}};
        const std::string& named = build_.hardware[ends_[id].core].name;
        if (static_cast<std::size_t>(id) != ends_[id].core.index())
          build_.hardware.notes.push_back(
              fmt::format("core {} of the file is core {}, '{}'", id, ends_[id].core.index(), named));
      }
    }
    if (build_.hardware.cores.empty())
      return root_.error("no core of the system computes", "check the sizes of their arrays");
    return Done{};
  }

  Status add_memory_part(std::int64_t id, const ZigzagCore& file) {
    const YamlNode& at = *parts_.at(id).at;
    if (file.memories.size() != 1) {
      return at.error(fmt::format("core {} does not compute and has {} memories, not one", id, file.memories.size()),
                      "leave only the memory that others reach");
    }
    if (id == offchip_ && file.computes) {
      return at.error(fmt::format("the off-chip core {} computes", id), "give its array sizes of 0");
    }
    if (const auto group = group_of_.find(id); group != group_of_.end()) {
      ends_[id] = {.core = {}, .memory = groups_[group->second].memories[0]};
      return Done{};
    }
    Memory memory = file.memories[0];
    if (id == offchip_) memory.kind = MemoryKind::dram;
    ends_[id] = {.core = {}, .memory = build_.add_memory(memory, memory.name)};
    return Done{};
  }

  Status connect() {
    MONET_TRY(const YamlNode* list, require_key(root_, "a system file", "core_connectivity"));
    MONET_RETURN_IF_ERROR(expect_sequence(*list, "core_connectivity"));
    const YamlNode* width = root_.find("bandwidth");
    if (width != nullptr && width->is_map()) {
      build_.hardware.notes.emplace_back("'bandwidth' of memory ports is not used");
      width = nullptr;
    }
    for (const YamlNode& node : list->items) MONET_RETURN_IF_ERROR(connect(node, width));
    return Done{};
  }

  Status connect(const YamlNode& node, const YamlNode* width) {
    Link link{.energy_pj_per_cycle = link_energy_};
    const YamlNode* cores = &node;
    std::string type;
    if (node.is_map()) {
      static const std::vector<std::string> keys = {"type", "cores", "bandwidth", "unit_energy_cost"};
      MONET_RETURN_IF_ERROR(allow_keys(node, "a connection", keys));
      MONET_TRY(cores, require_key(node, "a connection", "cores"));
      MONET_TRY(width, require_key(node, "a connection", "bandwidth"));
      if (const YamlNode* given = node.find("type"); given != nullptr && !given->is_null()) {
        MONET_TRY(type, yaml_word(*given, "the type of a connection"));
        static const std::vector<std::string> types = {"link", "bus"};
        if (type != "link" && type != "bus")
          return given->error(fmt::format("there is no connection '{}'", type), advise_choice(type, types));
      } else {
        type = "link";
      }
      if (const YamlNode* cost = node.find("unit_energy_cost"); cost != nullptr && !cost->is_null()) {
        MONET_TRY(link.energy_pj_per_cycle, yaml_number(*cost, "unit_energy_cost"));
      }
    }
    MONET_TRY(const auto ids, read_ids(*cores, "a connection"));
    if (type == "link" && ids.size() != 2) return cores->error("a link joins two cores", "write 'type: bus' for more");
    if (width == nullptr) return root_.error("a system file lacks 'bandwidth'", "state the width of its links in bits");
    MONET_TRY(link.bits_per_cycle, yaml_integer(*width, "bandwidth", 1, most_link_width));
    link.kind = type == "bus" || ids.size() > 2 ? LinkKind::bus : LinkKind::link;
    MONET_RETURN_IF_ERROR(check_not_sharing(*cores, ids));
    for (const std::int64_t id : ids) link.ends.push_back(ends_.at(id));
    add(std::move(link));
    return Done{};
  }

  Status check_not_sharing(const YamlNode& at, const std::vector<std::int64_t>& ids) const {
    std::map<std::size_t, std::int64_t> member;
    for (const std::int64_t id : ids) {
      const auto group = group_of_.find(id);
      if (group == group_of_.end()) continue;
      const auto [other, fresh] = member.emplace(group->second, id);
      if (!fresh) {
        return at.error(
            fmt::format("cores {} and {} share their top memory and cannot be connected too", other->second, id),
            "remove the connection, or the group of core_memory_sharing");
      }
    }
    return Done{};
  }

  void add(Link link) {
    if (link.name.empty())
      link.name = fmt::format("{}{}", link.kind == LinkKind::bus ? "bus" : "link", build_.hardware.links.size());
    build_.hardware.links.push_back(std::move(link));
  }

  // Results pass by the port of operand O: as wide are the ways to and from the memory.
  std::int64_t offchip_width(Transfer transfer) const {
    const ZigzagCore& file = file_of(*offchip_);
    const std::int8_t port =
        file.core.levels[0].port[static_cast<std::size_t>(Path::output)][static_cast<std::size_t>(transfer)];
    return file.memories[0].ports[port == no_port ? 0 : static_cast<std::size_t>(port)].max_bits;
  }

  void connect_offchip() {
    const End memory = ends_.at(*offchip_);
    std::vector<End> cores;
    for (std::size_t i = 0; i < build_.hardware.cores.size(); ++i) cores.push_back({.core = CoreId(i), .memory = {}});
    Link link{.kind = LinkKind::bus, .energy_pj_per_cycle = link_energy_};
    if (file_of(*offchip_).memories[0].ports.size() == 1) {
      link.name = "offchip";
      link.ends = cores;
      link.ends.push_back(memory);
      link.bits_per_cycle = offchip_width(Transfer::to_low);
      return add(std::move(link));
    }
    link.both_ways = false;
    link.name = "offchip_read";
    link.ends = cores;
    link.ends.insert(link.ends.begin(), memory);
    link.bits_per_cycle = offchip_width(Transfer::to_low);
    add(link);
    link.name = "offchip_write";
    link.ends = cores;
    link.ends.push_back(memory);
    link.bits_per_cycle = offchip_width(Transfer::from_low);
    add(std::move(link));
  }

  const YamlNode& root_;
  ForeignSystem build_;
  double link_energy_ = 0;
  CoreFiles files_;
  std::map<std::int64_t, Part> parts_;
  std::optional<std::int64_t> offchip_;
  bool implicit_offchip_ = false;
  std::vector<Group> groups_;
  std::map<std::int64_t, std::size_t> group_of_;
  std::map<std::int64_t, End> ends_;
};

}  // namespace

Expected<StreamSystem> read_stream_system(const YamlDocument& document, const std::string& path,
                                          const FileReader& read) {
  return SystemReader(document, path, read).read();
}

}  // namespace monet
