#include "evaluate/open/machines.h"

#include "evaluate/kernels/lowering_choice.h"
#include "hardware/part_path.h"
#include "hardware/totals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace monet {

namespace {

constexpr double peak_tolerance_percent = 2;

PortSummary summarize(const Port& port) {
  return {port.name, std::string(name_of(port.kind)), port.min_bits, port.max_bits, port.bits_per_cycle(), {}};
}

MemorySummary summarize(const Memory& memory) {
  MemorySummary summary;
  summary.name = memory.name;
  summary.kind = name_of(memory.kind);
  summary.size_bits = memory.size_bits;
  for (const Port& port : memory.ports) summary.ports.push_back(summarize(port));
  summary.read_pj = memory.read_pj;
  summary.write_pj = memory.write_pj;
  summary.latency_cycles = memory.latency_cycles;
  summary.static_w = memory.static_w;
  summary.area_mm2 = memory.area_mm2;
  summary.double_buffered = memory.double_buffered;
  return summary;
}

MemorySummary summarize(const Hardware& hardware, const Core& core, const Level& level, bool shared) {
  MemorySummary summary = summarize(hardware[level.memory]);
  summary.shared = shared;
  summary.instances = instances(core, level);
  if (!shared) summary.name = summary.name.substr(core.name.size() + 1);
  for (std::size_t path = 0; path < path_count; ++path) {
    if (level.holds(static_cast<Path>(path))) summary.paths.emplace_back(name_of(static_cast<Path>(path)));
    for (std::size_t transfer = 0; transfer < transfer_count; ++transfer) {
      const std::int8_t port = level.port[path][transfer];
      if (port == no_port) continue;
      summary.ports[static_cast<std::size_t>(port)].moves.push_back(
          std::string(name_of(static_cast<Path>(path))) + " " + std::string(name_of(static_cast<Transfer>(transfer))));
    }
  }
  return summary;
}

std::vector<PrecisionSummary> summarize(const std::vector<PrecisionRate>& precisions) {
  std::vector<PrecisionSummary> summaries;
  for (const PrecisionRate& p : precisions) summaries.push_back({p.name, p.rate, p.energy, p.accumulate});
  return summaries;
}

UnitSummary summarize(const Unit& unit) {
  UnitSummary summary;
  summary.name = unit.name;
  for (const UnitDimension& dimension : unit.dimensions) {
    UnitSummary::Dimension& copy = summary.dimensions.emplace_back();
    copy.name = dimension.name;
    copy.size = dimension.size;
    for (const Dim loop : dimension.loops) copy.loops.push_back(name_of(loop));
  }
  summary.lanes = unit.lanes();
  for (std::size_t i = 0; i < count_kinds; ++i) {
    if (unit.cycles[i] > 0)
      summary.operations.push_back({std::string(name_of(static_cast<Count>(i))), unit.cycles[i], 0, unit.energy_pj[i]});
  }
  summary.precisions = summarize(unit.precisions);
  summary.fill_cycles = unit.fill_cycles;
  if (unit.cycle_rule) summary.cycle_rule = unit.cycle_rule->text();
  summary.energy_pj_per_cycle = unit.energy_pj_per_cycle;
  return summary;
}

UnitSummary summarize(const Rate& rate) {
  UnitSummary summary;
  summary.name = "rate";
  for (std::size_t i = 0; i < count_kinds; ++i) {
    if (rate.operations_per_s[i] > 0)
      summary.operations.push_back(
          {std::string(name_of(static_cast<Count>(i))), 0, rate.operations_per_s[i], rate.energy_pj[i]});
  }
  summary.precisions = summarize(rate.precisions);
  // Where a precision states kinds of its own: as they are for MACs.
  const auto mac = static_cast<std::size_t>(Count::mac);
  for (std::size_t i = 0; i < rate.by_precision.size() && rate.operations_per_s[mac] > 0; ++i) {
    summary.precisions[i].rate = rate.in(i).operations_per_s[mac] / rate.operations_per_s[mac];
    if (rate.energy_pj[mac] > 0) summary.precisions[i].energy = rate.in(i).energy_pj[mac] / rate.energy_pj[mac];
  }
  return summary;
}

std::vector<CoreSummary> summarize_cores(const Hardware& hardware, const std::set<MemoryId>& system) {
  std::vector<CoreSummary> cores;
  for (const Core& core : hardware.cores) {
    const auto known = std::ranges::find(cores, core.type, &CoreSummary::type);
    if (known != cores.end()) {
      known->names.push_back(core.name);
      continue;
    }
    CoreSummary& summary = cores.emplace_back();
    summary.type = core.type;
    summary.names = {core.name};
    for (const Unit& unit : core.units) summary.units.push_back(summarize(unit));
    if (core.rate) summary.units.push_back(summarize(*core.rate));
    for (const Level& level : core.levels)
      summary.memories.push_back(summarize(hardware, core, level, system.contains(level.memory)));
    summary.operators = core.operators;
    summary.static_w = core.static_w;
    summary.area_mm2 = core.area_mm2;
  }
  return cores;
}

// "pe, pe": the kinds of part that a link joins, each end of a link by itself, on a bus each kind once.
std::string ends_text(const Hardware& hardware, const Link& link) {
  std::vector<std::string> names;
  for (const End& end : link.ends) {
    const std::string& name = end.core.valid() ? hardware[end.core].type : hardware[end.memory].name;
    if (link.kind == LinkKind::link || std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<LinkSummary> summarize_links(const Hardware& hardware) {
  std::vector<LinkSummary> links;
  for (const Link& link : hardware.links) {
    LinkSummary summary{link.name,
                        link.kind == LinkKind::bus ? "bus" : "link",
                        1,
                        ends_text(hardware, link),
                        link.bits_per_cycle,
                        link.latency_cycles,
                        link.energy_pj_per_bit,
                        link.both_ways};
    const auto same = std::ranges::find_if(links, [&](const LinkSummary& other) {
      return other.kind == summary.kind && other.between == summary.between &&
             other.bits_per_cycle == summary.bits_per_cycle && other.latency_cycles == summary.latency_cycles &&
             other.energy_pj_per_bit == summary.energy_pj_per_bit && other.both_ways == summary.both_ways;
    });
    if (same == links.end()) {
      links.push_back(std::move(summary));
    } else {
      ++same->count;
    }
  }
  return links;
}

// Precisions that some core names, in order of first mention, and those that a peak is stated for.
std::vector<std::string> precisions_of(const Hardware& hardware) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const StatedPeak& peak : hardware.peaks) add(peak.precision);
  for (const Core& core : hardware.cores) {
    for (const Unit& unit : core.units) {
      for (const PrecisionRate& precision : unit.precisions) add(precision.name);
    }
    if (core.rate) {
      for (const PrecisionRate& precision : core.rate->precisions) add(precision.name);
    }
  }
  if (names.empty()) names.emplace_back("any");
  return names;
}

std::vector<PeakSummary> summarize_peaks(const Hardware& hardware) {
  std::vector<PeakSummary> peaks;
  for (const std::string& precision : precisions_of(hardware)) {
    PeakSummary peak;
    peak.precision = precision;
    peak.operations_per_s = peak_operations(hardware, Count::mac, precision);
    const auto stated = std::ranges::find(hardware.peaks, precision, &StatedPeak::precision);
    if (stated != hardware.peaks.end()) {
      peak.stated = stated->operations_per_s;
      peak.source = stated->source;
      peak.confidence = stated->confidence;
      peak.deviation_percent = (peak.operations_per_s / stated->operations_per_s - 1) * 100;
      peak.holds = std::abs(peak.deviation_percent) <= peak_tolerance_percent;
    }
    if (peak.operations_per_s > 0 || peak.stated) peaks.push_back(std::move(peak));
  }
  return peaks;
}

std::int64_t gang_cores(const Hardware& hardware) {
  std::int64_t cores = 0;
  for (const Core& core : hardware.cores) {
    std::int64_t gang = 1;
    for (const Unit& unit : core.units) {
      for (const UnitDimension& dimension : unit.dimensions) {
        if (dimension.name == "gang") gang = dimension.size;
      }
    }
    cores += gang;
  }
  return cores;
}

// Of an operation that is neither a product nor a sum: networks have few of them.
bool is_of_rare_kind(const Origin& origin) {
  const std::vector<std::string_view> parts = parts_of_path(origin.part);
  const std::string_view last = parts.empty() ? std::string_view() : parts.back();
  const std::string first = origin.quantity.substr(0, origin.quantity.find(' '));
  for (std::size_t i = 0; i < count_kinds; ++i) {
    const auto kind = static_cast<Count>(i);
    if (kind == Count::mac || kind == Count::add || kind == Count::multiply) continue;
    if (name_of(kind) == last || name_of(kind) == first) return true;
  }
  return false;
}

// '-' is weaker than D.
char weaker(char a, char b) { return a == '-' || b == '-' ? '-' : std::max(a, b); }

// Not in the file, and counts as nothing.
bool is_left_out(const Origin& origin) {
  return origin.derived && (origin.value == "0" || origin.value.starts_with("0 "));
}

struct Confidences {
  char time = 'A', energy = 'A';
};

Confidences weakest_confidences(const Hardware& hardware) {
  Confidences weakest;
  for (const Origin& origin : hardware.origins) {
    // What the node gives is derived, with a confidence of its own.
    if (origin.part.starts_with("fabric ")) continue;  // one chip's results do not use it
    const bool matters = origin.quantity != "technology" && origin.quantity.find("area") == std::string::npos;
    if (!matters || is_left_out(origin) || is_of_rare_kind(origin)) continue;
    const bool energy =
        origin.quantity.find("energy") != std::string::npos || origin.quantity.find("power") != std::string::npos;
    char& one = energy ? weakest.energy : weakest.time;
    one = weaker(one, origin.confidence);
  }
  return weakest;
}

std::vector<FabricLevelSummary> summarize_fabric(const Fabric& fabric) {
  std::vector<FabricLevelSummary> levels;
  const auto points = [](const std::vector<WidthShare>& table) {
    std::vector<std::pair<double, double>> made;
    for (const WidthShare& point : table) made.emplace_back(point.bytes, point.share);
    return made;
  };
  for (const FabricLevel& level : fabric.levels) {
    FabricLevelSummary& made = levels.emplace_back();
    made.name = level.name;
    made.kind = name_of(level.kind);
    if (level.chips != any_chips) made.chips = level.chips;
    made.sizes = level.sizes;
    if (level.dimensions > 0) made.dimensions = level.dimensions;
    made.bytes_per_s = level.bytes_per_s;
    made.latency_s = level.latency_s;
    made.start_s = level.start_s;
    made.reduces = level.reduces;
    made.energy_pj_per_bit = level.energy_pj_per_bit;
    made.oversubscription = level.oversubscription;
    made.chip_share = level.chip_share;
    for (const CollectiveAlgorithm algorithm : level.algorithms) made.algorithms.emplace_back(name_of(algorithm));
    made.efficiency = points(level.efficiency);
    made.efficiency_in_switch = points(level.efficiency_in_switch);
  }
  return levels;
}

std::vector<std::string> effects_of(const Effects& effects) {
  const std::array<std::pair<bool, const char*>, 5> all = {{{effects.fill_drain, "fill_drain"},
                                                            {effects.memory_latency, "memory_latency"},
                                                            {effects.energy_by_precision, "energy_by_precision"},
                                                            {effects.static_energy, "static_energy"},
                                                            {effects.network_energy, "network_energy"}}};
  std::vector<std::string> names;
  for (const auto& [counted, name] : all) {
    if (counted) names.emplace_back(name);
  }
  return names;
}

}  // namespace

HardwareReport summarize(const Hardware& hardware) {
  const std::set<MemoryId> system = system_memories(hardware);
  HardwareReport report;
  report.name = hardware.name;
  report.description = hardware.description;
  report.clock_hz = hardware.clock_hz;
  report.technology_nm = hardware.technology_nm;
  report.parameters = hardware.parameters;
  report.effects = effects_of(hardware.effects);
  report.cores = summarize_cores(hardware, system);
  for (const MemoryId id : system) report.memories.push_back(summarize(hardware[id]));
  report.links = summarize_links(hardware);
  if (hardware.fabric) report.fabric = summarize_fabric(*hardware.fabric);
  report.peaks = summarize_peaks(hardware);
  const MachineTotals totals = totals_of(hardware);
  report.on_chip_bits = totals.on_chip_bits;
  report.dram_bits = totals.dram_bits;
  report.gang_cores = gang_cores(hardware);
  report.macs_per_cycle = totals.macs_per_cycle;
  report.static_w = totals.static_w;
  report.area_mm2 = totals.area_mm2;
  report.without_static_power = totals.without_static_power;
  report.without_area = totals.without_area;
  for (const Origin& o : hardware.origins)
    report.values.push_back({o.part, o.quantity, o.value, o.source, o.confidence, o.derived, is_left_out(o)});
  report.notes = hardware.notes;
  const Confidences weakest = weakest_confidences(hardware);
  report.time_confidence = weakest.time;
  report.energy_confidence = weakest.energy;
  report.confidence = weaker(weakest.time, weakest.energy);
  report.reach = reach_of(hardware);
  return report;
}

}  // namespace monet
