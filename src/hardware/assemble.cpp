#include "hardware/assemble.h"

#include "base/try.h"
#include "hardware/join.h"
#include "hardware/part_names.h"
#include "hardware/ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace monet {

namespace {

constexpr std::size_t max_cores = 65536;
constexpr std::size_t max_memories = 131072;
constexpr std::size_t max_nodes = std::size_t{1} << 22;  // of blocks, each as often as it is repeated

class Assembler {
 public:
  Assembler(Hardware& hardware, HardwarePlaces& places) : hardware_(hardware), places_(places) {}

  Status run(const ClusterPrototype& machine) {
    MONET_RETURN_IF_ERROR(fill(machine, names_.machine(), ""));
    for (const PendingLinks& pending : links_) {
      MONET_RETURN_IF_ERROR(join_parts(pending.cluster->links, pending.scope, names_, hardware_, places_, joined_));
    }
    index_links();
    for (const PendingLevel& pending : levels_) MONET_RETURN_IF_ERROR(attach(pending));
    for (const auto& [memory, uses] : uses_) find_over_links(memory, uses);
    return Done{};
  }

 private:
  // What waits until all parts are there.
  struct PendingLevel {
    std::size_t core;
    ScopeId scope;
    const LevelPrototype* prototype;
    MemoryId memory;  // not valid: to be found by name
  };
  struct LevelUse {
    std::size_t core, level;
  };
  struct PendingLinks {
    const ClusterPrototype* cluster;
    ScopeId scope;
  };

  static Error too_many(std::string_view what, const Place& place) {
    return {.message = fmt::format("too many {}", what), .place = place.text(), .advice = "check count and grid"};
  }

  Expected<MemoryId> add_memory(const MemoryPrototype& prototype, ScopeId scope) {
    if (hardware_.memories.size() >= max_memories) return too_many("memories", prototype.place);
    const MemoryId id(hardware_.memories.size());
    hardware_.memories.push_back(prototype.memory);
    hardware_.memories.back().name = names_.prefix(scope) + prototype.name;
    places_.memories.push_back(prototype.place);
    places_.ports.push_back(prototype.port_places);
    moves_.push_back(&prototype.moves);
    auto added = names_.add(scope, prototype.name, prototype.name, nullptr, {.core = {}, .memory = id}, {});
    if (!added) return placed(std::move(added).error(), prototype.place);
    return id;
  }

  Status add_core(const CorePrototype& prototype, ScopeId scope, const std::string& block_path, std::int64_t index) {
    nodes_ += prototype.size;
    if (nodes_ > max_nodes) return too_many("cores", prototype.place);
    const CoreId id(hardware_.cores.size());
    const std::string name = prototype.name + prototype.repeat.suffix(index);
    Core core = prototype.core;
    core.name = names_.prefix(scope) + name;
    if (core.type.empty()) core.type = block_path + prototype.name;
    hardware_.cores.push_back(std::move(core));
    places_.cores.push_back(prototype.place);
    places_.levels.emplace_back();
    const ScopeId inside = names_.add_scope(scope, name);
    auto added = names_.add(scope, name, prototype.name, &prototype.repeat, {.core = id, .memory = {}}, inside);
    if (!added) return placed(std::move(added).error(), prototype.place);
    for (const LevelPrototype& level : prototype.levels) {
      PendingLevel pending{.core = id.index(), .scope = scope, .prototype = &level, .memory = {}};
      if (level.own) {
        MONET_TRY(pending.memory, add_memory(*level.own, inside));
      }
      levels_.push_back(pending);
    }
    return Done{};
  }

  Status fill(const ClusterPrototype& cluster, ScopeId scope, const std::string& block_path) {
    hardware_.static_w += cluster.static_w;
    hardware_.area_mm2 += cluster.area_mm2;
    for (const MemoryPrototype& memory : cluster.memories) MONET_RETURN_IF_ERROR(add_memory(memory, scope));
    for (const CorePrototype& core : cluster.cores) {
      if (core.repeat.count() > static_cast<std::int64_t>(max_cores - hardware_.cores.size())) {
        return too_many("cores", core.place);
      }
      for (std::int64_t i = 0; i < core.repeat.count(); ++i)
        MONET_RETURN_IF_ERROR(add_core(core, scope, block_path, i));
    }
    for (const ClusterPrototype& inner : cluster.clusters) {
      for (std::int64_t i = 0; i < inner.repeat.count(); ++i) {
        nodes_ += 1 + inner.links.size();
        if (names_.scope_count() > max_memories || nodes_ > max_nodes) return too_many("clusters", inner.place);
        const std::string name = inner.name + inner.repeat.suffix(i);
        const ScopeId inside = names_.add_scope(scope, name);
        auto added = names_.add(scope, name, inner.name, &inner.repeat, {}, inside);
        if (!added) return placed(std::move(added).error(), inner.place);
        MONET_RETURN_IF_ERROR(fill(inner, inside, block_path + inner.name + "/"));
      }
    }
    links_.push_back({&cluster, scope});
    return Done{};
  }

  void index_links() {
    links_of_core_.resize(hardware_.cores.size());
    for (std::size_t i = 0; i < hardware_.links.size(); ++i) {
      for (const End& end : hardware_.links[i].ends) {
        if (end.core.valid()) links_of_core_[end.core.index()].push_back(LinkId(i));
        if (end.memory.valid()) memory_ends_.insert({LinkId(i), end.memory});
      }
    }
  }

  LinkId joining(std::size_t core, MemoryId memory) const {
    for (const LinkId link : links_of_core_[core]) {
      if (memory_ends_.contains({link, memory})) return link;
    }
    return {};
  }

  Expected<MemoryId> used_memory(const PendingLevel& pending) const {
    const LevelPrototype& level = *pending.prototype;
    const NamedParts found = names_.find(pending.scope, level.use);
    if (found.ends.empty() || !found.ends.front().memory.valid()) {
      return Error{.message = fmt::format("there is no memory '{}' to use", shown(level.use)),
                   .place = level.place.text(),
                   .advice = meant_name(level.use, names_.known(pending.scope))};
    }
    if (found.ends.size() > 1) {
      return Error{.message = fmt::format("'{}' stands for {} memories", shown(level.use), found.ends.size()),
                   .place = level.place.text(),
                   .advice = "name one of them"};
    }
    return found.ends.front().memory;
  }

  Expected<LinkId> link_of(const PendingLevel& pending, MemoryId memory) const {
    const LevelPrototype& level = *pending.prototype;
    if (level.link == "none") return LinkId();
    if (level.link.empty()) return level.own ? LinkId() : joining(pending.core, memory);
    const auto* found = names_.find_links(pending.scope, level.link);
    if (found == nullptr) {
      return Error{.message = fmt::format("there is no link '{}'", shown(level.link)),
                   .place = level.link_place.text(),
                   .advice = meant_name(level.link, names_.known_links(pending.scope))};
    }
    // Of several links under one name, the one at this core, else at this memory.
    for (const LinkId link : links_of_core_[pending.core]) {
      if (std::binary_search(found->begin(), found->end(), link)) return link;
    }
    for (const LinkId link : *found) {
      if (memory_ends_.contains({link, memory})) return link;
    }
    return Error{
        .message = fmt::format("the link '{}' ends neither at this core nor at this memory", shown(level.link)),
        .place = level.link_place.text(),
        .advice = "name another, or none"};
  }

  Status attach(const PendingLevel& pending) {
    const LevelPrototype& prototype = *pending.prototype;
    Level level;
    level.memory = pending.memory;
    if (!prototype.own) {
      MONET_TRY(level.memory, used_memory(pending));
    }
    level.served = prototype.served;
    MONET_RETURN_IF_ERROR(assign_ports(hardware_[level.memory], *moves_[level.memory.index()], prototype.paths,
                                       prototype.own.has_value(), level));
    MONET_TRY(level.link, link_of(pending, level.memory));
    if (!prototype.own && prototype.link.empty()) {
      uses_[level.memory].push_back({pending.core, hardware_.cores[pending.core].levels.size()});
    }
    hardware_.cores[pending.core].levels.push_back(level);
    places_.levels[pending.core].push_back(prototype.place);
    return Done{};
  }

  // Where links join a memory to some of the cores that use it, the others reach it over the links between cores. Cores
  // of a type stay equal: what is on the way is no part of their levels.
  void find_over_links(MemoryId memory, const std::vector<LevelUse>& uses) {
    const auto level_of = [&](const LevelUse& use) -> Level& { return hardware_.cores[use.core].levels[use.level]; };
    const auto joined = [&](const LevelUse& use) { return level_of(use).link.valid(); };
    if (std::ranges::none_of(uses, joined) || std::ranges::all_of(uses, joined)) return;
    const std::vector<bool> reached = reached_from(memory);
    std::set<std::string> types;
    for (const LevelUse& use : uses) {
      if (joined(use) || !reached[use.core]) continue;
      level_of(use).over_links = true;
      types.insert(hardware_.cores[use.core].type);
    }
    for (const LevelUse& use : uses) {
      if (!joined(use) || !types.contains(hardware_.cores[use.core].type)) continue;
      level_of(use).link = {};
      level_of(use).over_links = true;
    }
  }

  // By core: links lead there, from core to core.
  std::vector<bool> reached_from(MemoryId memory) const {
    std::vector<bool> reached(hardware_.cores.size(), false);
    std::vector<bool> passed(hardware_.links.size(), false);
    std::vector<std::size_t> open;
    const auto pass = [&](const Link& link, std::size_t number) {
      if (passed[number]) return;
      passed[number] = true;
      for (const End& end : link.ends) {
        if (!end.core.valid() || reached[end.core.index()]) continue;
        reached[end.core.index()] = true;
        open.push_back(end.core.index());
      }
    };
    for (std::size_t i = 0; i < hardware_.links.size(); ++i) {
      if (memory_ends_.contains({LinkId(i), memory})) pass(hardware_.links[i], i);
    }
    while (!open.empty()) {
      const std::size_t core = open.back();
      open.pop_back();
      for (const LinkId link : links_of_core_[core]) pass(hardware_[link], link.index());
    }
    return reached;
  }

  Hardware& hardware_;
  HardwarePlaces& places_;
  PartNames names_;
  std::vector<PendingLevel> levels_;
  std::vector<PendingLinks> links_;
  std::vector<const std::vector<const Yaml*>*> moves_;  // by memory
  std::vector<std::vector<LinkId>> links_of_core_;
  std::set<std::pair<LinkId, MemoryId>> memory_ends_;
  std::map<MemoryId, std::vector<LevelUse>> uses_;  // levels that say nothing of a link
  std::size_t nodes_ = 0;
  std::size_t joined_ = 0;
};

}  // namespace

Status assemble(const ClusterPrototype& machine, Hardware& hardware, HardwarePlaces& places) {
  return Assembler(hardware, places).run(machine);
}

}  // namespace monet
