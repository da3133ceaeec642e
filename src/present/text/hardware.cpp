#include "base/quantities.h"
#include "present/shared/reach.h"

#include <monet/hardware.h>
#include <monet/text.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

using Align = Table::Align;

std::string count_text(double number) {
  return number == 0                                      ? "-"
         : number >= 1000 || number == std::floor(number) ? grouped(std::llround(number))
                                                          : fmt::format("{:.4g}", number);
}

std::string port_text(const PortSummary& port) {
  const char* const kind = port.kind == "read" ? "r" : port.kind == "write" ? "w" : "rw";
  const bool whole = std::abs(port.bits_per_cycle / static_cast<double>(port.max_bits) - 1) < 1e-3;
  const std::string width = whole ? fmt::format("{}", port.max_bits)
                                  : fmt::format("{:.4g} in words of {}", port.bits_per_cycle, port.max_bits);
  return fmt::format("{} {}{}", kind, port.min_bits == port.max_bits ? "" : fmt::format("{}..", port.min_bits), width);
}

std::string ports_text(const MemorySummary& memory) {
  std::string text;
  for (const PortSummary& port : memory.ports) text += (text.empty() ? "" : ", ") + port_text(port);
  return text;
}

void add_memory(Table& table, const MemorySummary& memory, bool in_core) {
  const std::string size = memory.instances == 1
                               ? size_text_of_bits(memory.size_bits)
                               : fmt::format("{} x {}", grouped(memory.instances), size_text_of_bits(memory.size_bits));
  std::vector<std::string> cells = {memory.name, memory.shared ? "shared" : memory.kind, size};
  if (in_core) cells.push_back(memory.paths.size() == 3 ? "all" : fmt::format("{}", fmt::join(memory.paths, ", ")));
  cells.push_back(ports_text(memory));
  const bool told = memory.shared;
  cells.push_back(told ? "" : energy_text(memory.read_pj));
  cells.push_back(told ? "" : energy_text(memory.write_pj));
  table.add(std::move(cells));
}

// Kinds that cost the same together: "add, multiply 0.1 pJ; exp in 4 cycles 0.1 pJ".
std::string operations_text(const UnitSummary& unit) {
  std::vector<std::pair<std::string, std::string>> groups;  // cost, kinds
  for (const OperationSummary& operation : unit.operations) {
    std::string cost = unit.name == "rate"     ? " " + rate_text(operation.operations_per_s)
                       : operation.cycles == 1 ? ""
                                               : fmt::format(" in {:.4g} cycles", operation.cycles);
    cost += " " + energy_text(operation.energy_pj);
    const auto same = std::ranges::find(groups, cost, &std::pair<std::string, std::string>::first);
    if (same == groups.end()) {
      groups.emplace_back(cost, operation.kind);
    } else {
      same->second += ", " + operation.kind;
    }
  }
  std::string text;
  for (const auto& [cost, kinds] : groups) text += fmt::format("{}{}{}", text.empty() ? "" : "; ", kinds, cost);
  return text;
}

std::string unit_text(const UnitSummary& unit) {
  std::string text;
  if (unit.name != "rate") {
    std::vector<std::string> sizes;
    for (const auto& dimension : unit.dimensions) {
      sizes.push_back(
          fmt::format("{} {}{}", dimension.name, dimension.size,
                      dimension.loops.empty() ? "" : fmt::format(" ({})", fmt::join(dimension.loops, " "))));
    }
    text += fmt::format("    {:<10} {} = {} lanes\n", unit.name, fmt::join(sizes, " x "), grouped(unit.lanes));
  }
  text += fmt::format("    {:<10} {}\n", unit.name == "rate" ? "rate" : "operations", operations_text(unit));
  if (!unit.precisions.empty()) {
    std::vector<std::string> names;
    for (const PrecisionSummary& p : unit.precisions) {
      names.push_back(fmt::format("{} rate {:.4g} energy {:.3g}{}", p.name, p.rate, p.energy,
                                  p.accumulate.empty() ? "" : " sums " + p.accumulate));
    }
    text += fmt::format("    {:<10} {}\n", "precisions", fmt::join(names, "; "));
  }
  if (unit.fill_cycles > 0) text += fmt::format("    {:<10} {:g} cycles\n", "fill", unit.fill_cycles);
  if (!unit.cycle_rule.empty()) text += fmt::format("    {:<10} {}\n", "cycle rule", unit.cycle_rule);
  if (unit.energy_pj_per_cycle > 0)
    text += fmt::format("    {:<10} {} each\n", "cycles", energy_text(unit.energy_pj_per_cycle));
  return text;
}

Text core_text(const CoreSummary& core) {
  Text text = core.names.size() == 1 ? fmt::format("  {}\n", core.type)
                                     : fmt::format("  {} x {} ({} ... {})\n", core.names.size(), core.type,
                                                   core.names.front(), core.names.back());
  if (!core.operators.empty()) text += fmt::format("    {:<10} {}\n", "runs", fmt::join(core.operators, ", "));
  for (const UnitSummary& unit : core.units) text += unit_text(unit);
  if (core.memories.empty()) return text;
  Table table({{"memory"},
               {"kind"},
               {"size", Align::right},
               {"paths"},
               {"ports, bit/cycle"},
               {"read", Align::right},
               {"write", Align::right}},
              4);
  for (const MemorySummary& memory : core.memories) add_memory(table, memory, true);
  return text + table;
}

Text link_table(const HardwareReport& report) {
  Table table({{"link"},
               {"kind"},
               {"between"},
               {"bit/cycle", Align::right},
               {"latency", Align::right},
               {"pJ/bit", Align::right}},
              2);
  for (const LinkSummary& link : report.links) {
    const std::string kind = fmt::format("{}{}{}", link.count == 1 ? "" : fmt::format("{} x ", link.count), link.kind,
                                         link.kind == "link" && !link.both_ways ? ", one way" : "");
    table.add({link.name, kind, link.between, fmt::format("{:.5g}", link.bits_per_cycle),
               fmt::format("{:g}", link.latency_cycles), fmt::format("{:.3g}", link.energy_pj_per_bit)});
  }
  return table;
}

std::string fabric_kind_text(const FabricLevelSummary& level) {
  if (!level.sizes.empty()) return fmt::format("{} {}", level.kind, fmt::join(level.sizes, " x "));
  if (level.dimensions) return fmt::format("{} of {} dimensions", level.kind, *level.dimensions);
  return level.reduces ? level.kind + ", adds up" : level.kind;
}

Text fabric_table(const HardwareReport& report) {
  Table table({{"level"},
               {"chips", Align::right},
               {"kind"},
               {"GB/s, one chip each way", Align::right},
               {"latency, us", Align::right},
               {"start, us", Align::right},
               {"pJ/bit", Align::right},
               {"share of the width"}},
              2);
  for (const FabricLevelSummary& level : report.fabric) {
    const auto& shares = level.efficiency.empty() ? level.efficiency_in_switch : level.efficiency;
    const std::string reached =
        shares.empty() ? "1"
        : shares.size() == 1
            ? fmt::format("{:.3g}", shares.front().second)
            : fmt::format("{:.3g} at {} ... {:.3g} at {}", shares.front().second,
                          size_text_of_bits(std::llround(8 * shares.front().first)), shares.back().second,
                          size_text_of_bits(std::llround(8 * shares.back().first)));
    std::string width = fmt::format("{:.5g}", level.bytes_per_s / 1e9);
    if (level.oversubscription != 1) width += fmt::format(" / {:g}", level.oversubscription);
    table.add({level.name, level.chips ? std::to_string(*level.chips) : "any", fabric_kind_text(level), width,
               fmt::format("{:.4g}", level.latency_s * 1e6), fmt::format("{:.4g}", level.start_s * 1e6),
               fmt::format("{:.3g}", level.energy_pj_per_bit), reached});
  }
  return table;
}

Text peak_table(const HardwareReport& report) {
  Table table({{"precision"},
               {"units x rate x clock", Align::right},
               {"stated", Align::right},
               {"deviation", Align::right},
               {""}},
              2);
  for (const PeakSummary& peak : report.peaks) {
    table.add({peak.precision, rate_text(peak.operations_per_s), peak.stated ? rate_text(*peak.stated) : "-",
               peak.stated ? fmt::format("{:+.2f} %", peak.deviation_percent) : "",
               peak.stated && !peak.holds ? "more than 2 %: check the description"
               : peak.confidence == '-'   ? peak.source
                                          : fmt::format("{} ({})", peak.source, peak.confidence)});
  }
  return table;
}

// A sum that lacks a part is no total.
std::string total_text(const std::string& sum, double value, const std::string& missing) {
  if (missing.empty()) return sum;
  return value > 0 ? fmt::format("not stated: of {} it is not known; {} without", missing, sum) : "not stated";
}

std::string confidence_text(const HardwareReport& report) {
  const auto letter = [](char confidence) { return confidence == '-' ? "not stated" : std::string(1, confidence); };
  return fmt::format("{} (time {}, energy {})", letter(report.confidence), letter(report.time_confidence),
                     letter(report.energy_confidence));
}

Text value_table(const HardwareReport& report, bool all) {
  Table table({{"part"}, {"quantity"}, {"value", Align::right}, {""}, {"source"}}, 2);
  for (const ValueSummary& value : report.values) {
    if (!all && (!value.derived || value.left_out)) continue;
    table.add({value.part, value.quantity, value_text(value.value), std::string(1, value.confidence),
               value.source.empty() ? "not stated" : value.source});
  }
  return table;
}

}  // namespace

Text to_text(const std::vector<PresetSummary>& presets) {
  Table table({{"name"},
               {"cores", Align::right},
               {"MACs/cycle", Align::right},
               {"clock", Align::right},
               {"peak", Align::right},
               {"", Align::left},
               {"on chip", Align::right},
               {"memory", Align::right},
               {"confidence"},
               {"description"}});
  for (const PresetSummary& preset : presets) {
    table.add({preset.name, grouped(preset.cores), count_text(preset.macs_per_cycle), frequency_text(preset.clock_hz),
               rate_text(preset.peak_operations_per_s), preset.peak_precision == "any" ? "" : preset.peak_precision,
               preset.on_chip_bits == 0 ? "-" : size_text_of_bits(preset.on_chip_bits),
               preset.dram_bits == 0 ? "-" : size_text_of_bits(preset.dram_bits), std::string(1, preset.confidence),
               preset.description});
  }
  return table;
}

Text to_text(const HardwareReport& report, const HardwareView& view) {
  const auto line = [](const char* title, const std::string& value) {
    return fmt::format("{:<12} {}\n", title, value);
  };
  std::int64_t cores = 0;
  for (const CoreSummary& core : report.cores) cores += static_cast<std::int64_t>(core.names.size());
  Text text = fmt::format("{}\n", report.name);
  if (!report.description.empty()) text += fmt::format("{}\n", report.description);
  text += line("clock", frequency_text(report.clock_hz));
  if (report.technology_nm > 0) text += line("technology", fmt::format("{:g} nm", report.technology_nm));
  std::string parameters;
  for (const auto& [name, value] : report.parameters)
    parameters += fmt::format("{}{} = {}", parameters.empty() ? "" : ", ", name, value);
  if (!parameters.empty()) text += line("parameters", parameters);
  text += line("cores", report.gang_cores == cores
                            ? grouped(cores)
                            : fmt::format("{} ({} with those that work as gangs)", cores, grouped(report.gang_cores)));
  if (report.macs_per_cycle > 0) text += line("MACs/cycle", count_text(report.macs_per_cycle));
  text += line("static power", total_text(power_text(report.static_w), report.static_w, report.without_static_power));
  text += line("area", total_text(fmt::format("{:.4g} mm²", report.area_mm2), report.area_mm2, report.without_area) +
                           (report.without_area.empty() ? ", without control, wires and interfaces" : ""));
  text += line("confidence", confidence_text(report));
  if (const std::string reach = reach_text(report.reach); !reach.empty()) text += line("model", reach);
  text += line("counted",
               report.effects.empty() ? "plain loops alone" : fmt::format("{}", fmt::join(report.effects, ", ")));

  text += "\ncores\n";
  for (const CoreSummary& core : report.cores) text += core_text(core);
  if (!report.memories.empty()) {
    text += "\nsystem\n";
    Table table({{"memory"},
                 {"kind"},
                 {"size", Align::right},
                 {"ports, bit/cycle"},
                 {"read", Align::right},
                 {"write", Align::right}},
                2);
    for (const MemorySummary& memory : report.memories) add_memory(table, memory, false);
    text += table;
  }
  if (!report.links.empty()) text += "\nlinks\n" + link_table(report);
  if (!report.fabric.empty()) text += "\nfabric, which joins chips like this\n" + fabric_table(report);
  if (!report.peaks.empty()) text += "\npeaks\n" + peak_table(report);
  if (view.values) return text + "\nvalues and their sources\n" + value_table(report, true);
  const auto derived = std::ranges::count(report.values, true, &ValueSummary::derived);
  const auto zeros = std::ranges::count(report.values, true, &ValueSummary::left_out);
  if (derived > zeros) text += "\nvalues that the file leaves out, derived\n" + value_table(report, false);
  if (zeros > 0) text += fmt::format("\n{} more are left out and count as 0 (--values shows all values)\n", zeros);
  return text;
}

}  // namespace monet
