#include "base/try.h"
#include "hardware/prototypes.h"

#include <fmt/format.h>

namespace monet {

namespace {

constexpr int max_cluster_depth = 4;

constexpr std::array<std::pair<std::string_view, Topology>, 8> topologies = {{{"link", Topology::link},
                                                                              {"bus", Topology::bus},
                                                                              {"star", Topology::star},
                                                                              {"mesh", Topology::mesh},
                                                                              {"torus", Topology::torus},
                                                                              {"ring", Topology::ring},
                                                                              {"tree", Topology::tree},
                                                                              {"all_to_all", Topology::all_to_all}}};

Expected<std::string_view> topology_key(const Fields& fields) {
  std::string_view found;
  for (const auto& [key, topology] : topologies) {
    if (!fields.has(key)) continue;
    if (!found.empty()) {
      return fields.error(key, fmt::format("both {} and {} in one entry", found, key), "write two entries");
    }
    found = key;
  }
  if (found.empty()) {
    return fields.error("link", "a link that joins nothing",
                        "write one of link, bus, star, mesh, torus, ring, tree, all_to_all with the names of parts");
  }
  return found;
}

}  // namespace

Expected<LinkPrototype> read_link(const ReadState& state, const Yaml& node, const Context& around) {
  LinkPrototype result;
  result.place = node.place;
  const Yaml* name = node.find("name");
  result.name = name == nullptr ? std::string() : name->scalar;
  std::string label = result.name;
  for (const auto& [key, topology] : topologies) {
    const Yaml* ends = node.find(key);
    if (!label.empty() || ends == nullptr) continue;
    label =
        fmt::format("{} {}", key, ends->is_list() && !ends->items.empty() ? ends->items.front()->scalar : ends->scalar);
  }
  MONET_TRY(const Fields fields, state.open(node, link_block(), around, fmt::format("link {}", shown(label))));
  if (result.name.size() > 100 || result.name.find('/') != std::string::npos) {
    return fields.error("name", fmt::format("'{}' cannot be a name", shown(result.name)),
                        "no /, at most 100 characters");
  }
  MONET_TRY(const std::string_view key, topology_key(fields));
  for (const auto& [candidate, topology] : topologies) {
    if (candidate == key) result.topology = topology;
  }
  result.ends = fields.names(key);
  MONET_TRY(result.grid, fields.integers("grid", 1 << 10));
  const bool has_grid = result.topology == Topology::mesh || result.topology == Topology::torus;
  if (fields.has("grid") && (!has_grid || result.grid.empty() || result.grid.size() > 3)) {
    return fields.error("grid", "a grid that is not the size of a mesh or torus", "write rows and columns: [4, 4]");
  }
  MONET_TRY(const auto arity, fields.integer("arity", 1, 1 << 20));
  if (arity && result.topology != Topology::tree) {
    return fields.error("arity", "only a tree has an arity", "remove it, or write tree");
  }
  result.arity = arity.value_or(2);

  Link& link = result.link;
  const double scale = state.cycle_scale(fields.context().clock_hz);
  MONET_TRY(const bool one_way, fields.boolean("one_way", false));
  link.kind = result.topology == Topology::bus ? LinkKind::bus : LinkKind::link;
  link.both_ways = !one_way;
  MONET_TRY(const auto width, fields.quantity("width"));
  if (!width || *width <= 0) return fields.error("width", "a link without a width", "write width: 32 bit/cycle");
  link.bits_per_cycle = *width / scale;
  MONET_TRY(const auto latency, fields.quantity("latency"));
  link.latency_cycles = latency.value_or(0) * scale;
  MONET_TRY(const auto energy, fields.quantity("energy"));
  link.energy_pj_per_bit = energy.value_or(0);
  MONET_TRY(const auto per_cycle, fields.quantity("energy_per_cycle"));
  link.energy_pj_per_cycle = per_cycle.value_or(0) / scale;
  MONET_TRY(const auto power, fields.quantity("static_power"));
  link.static_w = power.value_or(0);
  MONET_TRY(const auto area, fields.quantity("area"));
  link.area_mm2 = area.value_or(0);
  if (!latency) fields.note_derived("latency", 0, Measure::time, "left out: counted as 0", 'D');
  if (!energy && !per_cycle) fields.note_derived("energy", 0, Measure::energy_per_bit, "left out: counted as 0", 'D');
  return result;
}

Expected<ClusterPrototype> read_parts(const ReadState& state, const Fields& fields, int depth) {
  ClusterPrototype result;
  const Context& context = fields.context();
  if (const Yaml* memories = fields.find("memories")) {
    for (const Yaml::Entry& entry : memories->entries) {
      MONET_TRY(const Fields inner,
                state.open(*entry.value, memory_block(), context, fmt::format("memory {}", entry.key)));
      MONET_TRY(MemoryPrototype memory, read_memory(state, inner, entry.key));
      memory.place = entry.place;
      result.memories.push_back(std::move(memory));
    }
  }
  if (const Yaml* cores = fields.find("cores")) {
    for (const Yaml::Entry& entry : cores->entries) {
      MONET_TRY(CorePrototype core, read_core(state, entry, context));
      result.cores.push_back(std::move(core));
    }
  }
  if (const Yaml* clusters = fields.find("clusters")) {
    if (depth >= max_cluster_depth) {
      return fields.error("clusters", fmt::format("clusters nested deeper than {}", max_cluster_depth));
    }
    for (const Yaml::Entry& entry : clusters->entries) {
      MONET_TRY(const Fields inner,
                state.open(*entry.value, cluster_block(), context, fmt::format("cluster {}", entry.key)));
      MONET_TRY(ClusterPrototype cluster, read_parts(state, inner, depth + 1));
      cluster.name = entry.key;
      cluster.place = entry.place;
      MONET_TRY(cluster.repeat, read_repeat(inner));
      result.clusters.push_back(std::move(cluster));
    }
  }
  if (const Yaml* links = fields.find("links")) {
    for (const YamlPtr& item : links->items) {
      MONET_TRY(LinkPrototype link, read_link(state, *item, context));
      result.links.push_back(std::move(link));
    }
  }
  MONET_TRY(const auto power, fields.quantity("static_power"));
  MONET_TRY(const auto area, fields.quantity("area"));
  result.static_w = power.value_or(0);
  result.area_mm2 = area.value_or(0);
  return result;
}

}  // namespace monet
