#include "hardware/writer_parts.h"

#include "hardware/totals.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace monet::hardware_text {

namespace {

bool is_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 12> words = {"true", "false", "yes",  "no", "on", "off",
                                                             "null", "Null",  "NULL", "y",  "n",  "~"};
  if (text.empty() || std::find(words.begin(), words.end(), text) != words.end()) return false;
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '/' || c == '.';
  };
  return std::isalpha(static_cast<unsigned char>(text[0])) != 0 && std::all_of(text.begin(), text.end(), fits);
}

std::string size_text(std::int64_t bits) {
  static constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bits % 1'000'000'000 == 0 && bits != 0) return fmt::format("{} Gbit", bits / 1'000'000'000);
  if (bits % 8 != 0 || bits == 0) return fmt::format("{} bit", bits);
  std::int64_t number = bits / 8;
  std::size_t unit = 0;
  while (number % 1024 == 0 && unit + 1 < units.size()) {
    number /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", number, units[unit]);
}

// What a level moves through one of its memory's ports.
std::vector<std::string> moves_of(const Level& level, std::size_t port) {
  std::vector<std::string> moves;
  for (std::size_t p = 0; p < path_count; ++p)
    for (std::size_t t = 0; t < transfer_count; ++t)
      if (level.port[p][t] == static_cast<std::int8_t>(port))
        moves.push_back(fmt::format("{} {}", name_of(static_cast<Path>(p)), name_of(static_cast<Transfer>(t))));
  return moves;
}

std::string range_text(std::int64_t least, std::int64_t most) {
  return least == most ? std::to_string(most) : fmt::format("{}..{}", least, most);
}

std::vector<std::string> port_fields(const Port& port) {
  std::vector<std::string> fields = {fmt::format("kind: {}", name_of(port.kind))};
  const std::string word = range_text(port.min_bits, port.max_bits);
  if (port.words_per_cycle == 1) {
    fields.push_back(fmt::format("width: {} bit/cycle", word));
  } else {
    fields.push_back(fmt::format("width: {} bit/cycle", port.bits_per_cycle()));
    fields.push_back(fmt::format("word: {} bit", word));
  }
  return fields;
}

void write_operations(Lines& out, const Unit& unit) {
  const auto value = [&](std::size_t kind) {
    return fmt::format("{{cycles: {}, energy: {} pJ}}", unit.cycles[kind], unit.energy_pj[kind]);
  };
  const auto left_out = [&](std::size_t kind) {
    return unit.cycles[kind] == 0 || (kind == static_cast<std::size_t>(Count::mac) && composes_macs(unit));
  };
  out.add(3, "operations:");
  bool equal = !left_out(0);
  for (std::size_t kind = 1; kind < count_kinds; ++kind)
    equal &= unit.cycles[kind] == unit.cycles[0] && unit.energy_pj[kind] == unit.energy_pj[0];
  if (equal) return out.field(4, "all", value(0));
  for (std::size_t kind = 0; kind < count_kinds; ++kind)
    if (!left_out(kind)) out.field(4, name_of(static_cast<Count>(kind)), value(kind));
}

// What a precision of a rate core states for kinds of operations.
void add_kinds(std::vector<std::string>& fields, const KindRates& rates) {
  std::vector<std::string> operations, energies;
  for (std::size_t kind = 0; kind < count_kinds; ++kind) {
    if (rates.operations_per_s[kind] == 0) continue;
    const std::string_view name = name_of(static_cast<Count>(kind));
    operations.push_back(fmt::format("{}: {} OP/s", name, rates.operations_per_s[kind]));
    energies.push_back(fmt::format("{}: {} pJ", name, rates.energy_pj[kind]));
  }
  if (operations.empty()) return;
  fields.push_back("operations: " + join_fields(operations));
  fields.push_back("operation_energy: " + join_fields(energies));
}

void write_precisions(Lines& out, const std::vector<PrecisionRate>& precisions,
                      const std::vector<KindRates>& by_precision = {}) {
  if (precisions.empty()) return;
  out.add(3, "precisions:");
  for (std::size_t i = 0; i < precisions.size(); ++i) {
    const PrecisionRate& precision = precisions[i];
    std::vector<std::string> fields = {fmt::format("rate: {}", precision.rate),
                                       fmt::format("energy: {}", precision.energy)};
    if (!precision.accumulate.empty()) fields.push_back("accumulate: " + yaml_quoted(precision.accumulate));
    if (i < by_precision.size()) add_kinds(fields, by_precision[i]);
    out.field(4, yaml_quoted(precision.name), join_fields(fields));
  }
}

std::vector<std::string> loop_names_of(const UnitDimension& dimension) {
  std::vector<std::string> names;
  for (const Dim loop : dimension.loops) names.push_back(name_of(loop));
  return names;
}

}  // namespace

std::string yaml_quoted(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string list_of(const std::vector<std::string>& items) { return fmt::format("[{}]", fmt::join(items, ", ")); }

std::string quoted_list(const std::vector<std::string>& items) {
  std::vector<std::string> texts;
  for (const std::string& item : items) texts.push_back(yaml_quoted(item));
  return list_of(texts);
}

std::string join_fields(const std::vector<std::string>& fields) {
  return fmt::format("{{{}}}", fmt::join(fields, ", "));
}

void write_ports(Lines& out, int at, const Memory& memory, const Level* level, bool widths) {
  out.add(at, memory.ports.empty() ? "ports: {}" : "ports:");
  for (std::size_t i = 0; i < memory.ports.size(); ++i) {
    const Port& port = memory.ports[i];
    std::vector<std::string> fields;
    if (widths) fields = port_fields(port);
    if (level != nullptr) fields.push_back("moves: " + list_of(moves_of(*level, i)));
    out.field(at + 1, yaml_quoted(port.name), join_fields(fields));
  }
}

void write_memory(Lines& out, int at, const Memory& memory, const Level* level) {
  out.field(at, "kind", name_of(memory.kind));
  out.field(at, "size", size_text(memory.size_bits));
  write_ports(out, at, memory, level, true);
  out.field(at, "read_energy", fmt::format("{} pJ", memory.read_pj));
  out.field(at, "write_energy", fmt::format("{} pJ", memory.write_pj));
  out.field(at, "latency", fmt::format("{} cycle", memory.latency_cycles));
  out.quantity(at, "read_latency", memory.read_latency_cycles, "cycle");
  out.quantity(at, "write_latency", memory.write_latency_cycles, "cycle");
  if (memory.page_bits != 0) out.field(at, "page", size_text(memory.page_bits));
  if (memory.double_buffered) out.field(at, "double_buffered", "true");
  out.quantity(at, "network_energy", memory.network_pj_per_bit, "pJ/bit");
  // Stated even where they are 0: what is left out would be derived.
  out.field(at, "static_power", fmt::format("{} W", memory.static_w));
  out.field(at, "area", fmt::format("{} mm2", memory.area_mm2));
}

void write_unit(Lines& out, const Unit& unit) {
  const bool vector = unit.name == "vector";
  out.add(2, vector ? "vector:" : "array:");
  if (vector) {
    out.field(3, "lanes", std::to_string(unit.lanes()));
    const std::vector<std::string> loops = loop_names_of(unit.dimensions.front());
    if (!loops.empty()) out.field(3, "loops", list_of(loops));
  } else {
    out.add(3, "dimensions:");
    for (const UnitDimension& dimension : unit.dimensions) {
      std::vector<std::string> fields = {fmt::format("size: {}", dimension.size)};
      const std::vector<std::string> loops = loop_names_of(dimension);
      if (!loops.empty()) fields.push_back("loops: " + list_of(loops));
      out.field(4, yaml_quoted(dimension.name), join_fields(fields));
    }
  }
  write_operations(out, unit);
  write_precisions(out, unit.precisions);
  if (unit.fill_cycles != 0) out.field(3, "fill", fmt::format("{}", unit.fill_cycles));
  if (unit.cycle_rule) out.field(3, "cycle_rule", yaml_quoted(unit.cycle_rule->text()));
  out.quantity(3, "energy_per_cycle", unit.energy_pj_per_cycle, "pJ/cycle");
  // Stated even where it is 0: what is left out would be derived.
  out.field(3, "area", fmt::format("{} mm2", unit.area_mm2));
}

void write_rate(Lines& out, const Rate& rate) {
  const auto table = [&](std::string_view key, const std::array<double, count_kinds>& values, std::string_view unit) {
    out.add(3, fmt::format("{}:", key));
    for (std::size_t kind = 0; kind < count_kinds; ++kind)
      if (rate.operations_per_s[kind] != 0)
        out.field(4, name_of(static_cast<Count>(kind)), fmt::format("{} {}", values[kind], unit));
  };
  out.add(2, "rate:");
  table("operations", rate.operations_per_s, "OP/s");
  table("energy", rate.energy_pj, "pJ");
  write_precisions(out, rate.precisions, rate.by_precision);
}

}  // namespace monet::hardware_text
