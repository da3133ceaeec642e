#include "hardware/writer.h"

#include "hardware/writer_parts.h"

#include <algorithm>
#include <map>

namespace monet {

namespace {

using namespace hardware_text;

class Writer {
 public:
  explicit Writer(const Hardware& hardware) : hardware_(hardware) {}

  std::string write() {
    find_owners();
    find_moves();
    out_.field(0, "monet", "1");
    out_.field(0, "name", yaml_quoted(hardware_.name));
    if (!hardware_.description.empty()) out_.field(0, "description", yaml_quoted(hardware_.description));
    if (!hardware_.recipe.empty()) out_.field(0, "recipe", yaml_quoted(hardware_.recipe));
    out_.quantity(0, "clock", hardware_.clock_hz, "Hz");
    out_.quantity(0, "technology", hardware_.technology_nm, "nm");
    write_effects();
    out_.quantity(0, "static_power", hardware_.static_w, "W");
    out_.quantity(0, "area", hardware_.area_mm2, "mm2");
    if (!hardware_.notes.empty()) {
      out_.add(0, "notes:");
      for (const std::string& note : hardware_.notes) out_.add(1, "- " + yaml_quoted(note));
    }
    write_validated();
    write_memories();
    write_cores();
    write_links();
    if (hardware_.fabric) write_fabric(out_, *hardware_.fabric);
    return std::move(out_).text();
  }

 private:
  // A memory belongs to the core after which it is named if no other core uses it, and no link ends there.
  void find_owners() {
    owner_.assign(hardware_.memories.size(), nullptr);
    std::vector<bool> shared(hardware_.memories.size(), false);
    for (const Core& core : hardware_.cores) {
      for (const Level& level : core.levels) {
        const std::size_t memory = level.memory.index();
        if (owner_[memory] != nullptr) shared[memory] = true;
        owner_[memory] = &core;
      }
    }
    for (const Link& link : hardware_.links)
      for (const End& end : link.ends)
        if (end.memory.valid()) shared[end.memory.index()] = true;
    for (std::size_t i = 0; i < owner_.size(); ++i)
      if (shared[i] || (owner_[i] != nullptr && !hardware_.memories[i].name.starts_with(owner_[i]->name + "/")))
        owner_[i] = nullptr;
  }

  // What the cores move through the ports of a memory that they share, if they agree; else each says it for itself.
  void find_moves() {
    moves_.assign(hardware_.memories.size(), std::nullopt);
    std::vector<bool> differ(hardware_.memories.size(), false);
    for (const Core& core : hardware_.cores) {
      for (const Level& level : core.levels) {
        std::optional<Level>& common = moves_[level.memory.index()];
        if (!common) common = level;
        for (std::size_t p = 0; p < path_count; ++p) {
          if (!level.holds(static_cast<Path>(p))) continue;
          if (!common->holds(static_cast<Path>(p))) common->port[p] = level.port[p];
          if (common->port[p] != level.port[p]) differ[level.memory.index()] = true;
        }
      }
    }
    for (std::size_t i = 0; i < moves_.size(); ++i)
      if (differ[i]) moves_[i].reset();
  }

  void write_effects() {
    const Effects& effects = hardware_.effects;
    if (effects == Effects{}) return;
    out_.add(0, "effects:");
    const auto line = [&](std::string_view key, bool on) { out_.field(1, key, on ? "true" : "false"); };
    line("fill_drain", effects.fill_drain);
    line("memory_latency", effects.memory_latency);
    line("energy_by_precision", effects.energy_by_precision);
    line("static_energy", effects.static_energy);
    line("network_energy", effects.network_energy);
  }

  void write_memories() {
    bool first = true;
    for (std::size_t i = 0; i < hardware_.memories.size(); ++i) {
      if (owner_[i] != nullptr) continue;
      if (std::exchange(first, false)) out_.add(0, "memories:");
      out_.add(1, yaml_quoted(hardware_.memories[i].name) + ":");
      write_memory(out_, 2, hardware_.memories[i], moves_[i] ? &*moves_[i] : nullptr);
    }
  }

  void write_validated() {
    if (!hardware_.validated.empty()) out_.add(0, "validated:");
    for (const Validated& each : hardware_.validated) {
      std::vector<std::string> fields = {"machine: " + yaml_quoted(each.machine)};
      const auto percent = [&](const char* key, const std::optional<double>& value) {
        if (value) fields.push_back(fmt::format("{}: {}", key, *value));
      };
      percent("latency", each.latency_percent);
      percent("energy", each.energy_percent);
      percent("memory", each.memory_percent);
      if (!each.source.empty()) fields.push_back("source: " + yaml_quoted(each.source));
      out_.field(1, yaml_quoted(each.lowering), join_fields(fields));
    }
  }

  void write_cores() {
    if (!hardware_.cores.empty()) out_.add(0, "cores:");
    for (std::size_t i = 0; i < hardware_.cores.size();) {
      const Core& core = hardware_.cores[i];
      const std::string body = core_text(core);
      const std::size_t count = equal_cores(i, body);
      out_.add(1, yaml_quoted(count > 1 ? core.type : core.name) + ":");
      Lines head;
      if (count > 1) head.field(2, "count", std::to_string(count));
      if (count == 1 && core.type != core.name) head.field(2, "type", yaml_quoted(core.type));
      out_.add(0, chomped(std::move(head).text() + body));
      i += count;
    }
  }

  static std::string chomped(std::string text) {
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  // How many cores from the i-th on are written as one.
  std::size_t equal_cores(std::size_t i, const std::string& body) const {
    const std::string& type = hardware_.cores[i].type;
    std::size_t count = 0;
    while (i + count < hardware_.cores.size()) {
      const Core& core = hardware_.cores[i + count];
      if (core.type != type || core.name != fmt::format("{}{}", type, count) || core_text(core) != body) break;
      ++count;
    }
    return std::max<std::size_t>(count, 1);
  }

  std::string core_text(const Core& core) const {
    Lines out;
    if (!core.operators.empty()) out.field(2, "operators", quoted_list(core.operators));
    for (const Unit& unit : core.units) write_unit(out, unit);
    if (core.rate) write_rate(out, *core.rate);
    if (core.kernels) write_kernels(out, 2, *core.kernels);
    write_dataflow(out, core);
    if (!core.levels.empty()) out.add(2, "memories:");
    for (const Level& level : core.levels) write_level(out, core, level);
    out.quantity(2, "static_power", core.static_w, "W");
    out.quantity(2, "area", core.area_mm2, "mm2");
    return std::move(out).text();
  }

  static void write_dataflow(Lines& out, const Core& core) {
    if (core.dataflow.empty()) return;
    std::map<std::size_t, std::vector<std::string>> loops;
    for (const SpatialChoice& choice : core.dataflow)
      loops[choice.dimension].push_back(fmt::format("{}: {}", name_of(choice.loop), choice.size));
    out.add(2, "dataflow:");
    for (const auto& [dimension, entries] : loops)
      out.field(3, yaml_quoted(core.units[0].dimensions[dimension].name), join_fields(entries));
  }

  void write_level(Lines& out, const Core& core, const Level& level) const {
    const Memory& memory = hardware_[level.memory];
    const bool own = owner_[level.memory.index()] == &core;
    out.add(3, yaml_quoted(own ? memory.name.substr(core.name.size() + 1) : memory.name) + ":");
    if (!own) out.field(4, "use", yaml_quoted(memory.name));
    std::vector<std::string> paths;
    for (std::size_t p = 0; p < path_count; ++p)
      if (level.holds(static_cast<Path>(p))) paths.emplace_back(name_of(static_cast<Path>(p)));
    out.field(4, "paths", list_of(paths));
    std::vector<std::string> served;
    for (std::size_t d = 0; !core.units.empty() && d < core.units[0].dimensions.size(); ++d)
      if ((level.served >> d & 1U) != 0) served.push_back(core.units[0].dimensions[d].name);
    out.field(4, "serves", quoted_list(served));
    if (level.link.valid()) out.field(4, "link", yaml_quoted(hardware_[level.link].name));
    if (!level.link.valid() && !level.over_links && !own) out.field(4, "link", "none");
    if (own) {
      write_memory(out, 4, memory, &level);
    } else if (!moves_[level.memory.index()]) {
      write_ports(out, 4, memory, &level, false);
    }
  }

  void write_links() {
    if (!hardware_.links.empty()) out_.add(0, "links:");
    for (const Link& link : hardware_.links) {
      std::vector<std::string> ends;
      for (const End& end : link.ends)
        ends.push_back(end.core.valid() ? hardware_[end.core].name : hardware_[end.memory].name);
      out_.add(1, fmt::format("- {}: {}", link.kind == LinkKind::bus ? "bus" : "link", quoted_list(ends)));
      if (!link.name.empty()) out_.field(2, "name", yaml_quoted(link.name));
      if (!link.both_ways) out_.field(2, "one_way", "true");
      out_.field(2, "width", fmt::format("{} bit/cycle", link.bits_per_cycle));
      out_.quantity(2, "latency", link.latency_cycles, "cycle");
      out_.quantity(2, "energy", link.energy_pj_per_bit, "pJ/bit");
      out_.quantity(2, "energy_per_cycle", link.energy_pj_per_cycle, "pJ/cycle");
      out_.quantity(2, "static_power", link.static_w, "W");
      out_.quantity(2, "area", link.area_mm2, "mm2");
    }
  }

  const Hardware& hardware_;
  std::vector<const Core*> owner_;  // of each memory; null: the system
  std::vector<std::optional<Level>> moves_;
  Lines out_;
};

}  // namespace

std::string to_yaml(const Hardware& hardware) { return Writer(hardware).write(); }

}  // namespace monet
