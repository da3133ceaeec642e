#include "base/try.h"
#include "hardware/derive/costs.h"
#include "hardware/prototypes.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

double widest(const Memory& memory, bool reads) {
  std::int64_t bits = 0;
  for (const Port& port : memory.ports) {
    if (port.kind == PortKind::read_write || (port.kind == PortKind::read) == reads)
      bits = std::max(bits, port.max_bits);
  }
  return static_cast<double>(bits);
}

SramCosts table_costs(MemoryKind kind, double size_bits, double width_bits, double technology_nm) {
  return kind == MemoryKind::registers ? register_costs(size_bits / 8, width_bits, technology_nm)
                                       : sram_costs(size_bits / 8, width_bits, technology_nm);
}

// The four costs of a memory, in the order of the keys below.
constexpr std::array<std::string_view, 4> cost_keys = {"read_energy", "write_energy", "static_power", "area"};
constexpr std::array<Measure, 4> cost_measures = {Measure::energy, Measure::energy, Measure::power, Measure::area};

std::array<const DerivedCost*, 4> as_list(const SramCosts& costs) {
  return {&costs.read_pj, &costs.write_pj, &costs.static_w, &costs.area_mm2};
}

// An energy for a word, or for a bit of it.
Expected<std::optional<double>> read_energy(const Fields& fields, std::string_view key, double word_bits) {
  const Yaml* value = fields.find(key);
  if (value == nullptr) return std::optional<double>();
  MONET_TRY(const Quantity quantity, fields.parameters().evaluate(*value));
  if (quantity.dimension != Dimension{.bit = -1, .energy = 1}) return fields.quantity(key);
  MONET_TRY(const double per_bit, fields.convert_value(*value, Measure::energy_per_bit));
  fields.note(key, format_measure(per_bit, Measure::energy_per_bit), fields.node().find(key));
  return std::optional(per_bit * word_bits);
}

using Stated = std::array<std::optional<double>, 4>;
using Costs = std::array<double, 4>;

// Costs from the table where none are stated, and stated ones scaled by the table where a parameter has changed the
// size.
Status derive_on_chip(const ReadState& state, const Fields& fields, const DefaultSize& by_default, const Memory& memory,
                      const Stated& stated, Costs& costs) {
  const double technology = fields.context().technology_nm;
  const double size = static_cast<double>(memory.size_bits);
  const double width = std::max(widest(memory, true), widest(memory, false));
  const bool resized = by_default.size_bits != size || by_default.width_bits != width;
  const bool scales = resized && state.energies_by_size;
  const bool energy_missing = !stated[0] || !stated[1];
  if (!(technology > 0)) {
    if (energy_missing || scales) {
      return fields.error(energy_missing ? (stated[0] ? "write_energy" : "read_energy") : "size",
                          energy_missing
                              ? "the energy is left out, and so is the technology to derive it from"
                              : "a parameter changes the size, and there is no technology to scale the energies",
                          energy_missing ? "state it, or technology: 22 nm for the machine"
                                         : "state technology: 22 nm for the machine, or energies: fixed");
    }
    for (std::size_t i = 2; i < costs.size(); ++i) {
      if (stated[i]) continue;
      fields.note_derived(cost_keys[i], 0, cost_measures[i],
                          "left out, and no technology to derive it from: counted as 0", 'D');
    }
    return Done{};
  }
  const SramCosts now = table_costs(memory.kind, size, width, technology);
  const SramCosts then = table_costs(memory.kind, by_default.size_bits, by_default.width_bits, technology);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const DerivedCost& cost = *as_list(now)[i];
    const double before = as_list(then)[i]->value;
    if (!stated[i]) {
      costs[i] = cost.value;
      fields.note_derived(cost_keys[i], cost.value, cost_measures[i], cost.source, cost.confidence);
    } else if (scales && before > 0 && !is_expression(*fields.find(cost_keys[i]))) {
      costs[i] *= cost.value / before;
      fields.note_derived(cost_keys[i], costs[i], cost_measures[i],
                          fmt::format("stated for the default size, scaled by {:.4g} as the table: {}",
                                      cost.value / before, cost.source),
                          'D');
    }
  }
  return Done{};
}

Status derive_off_chip(const Fields& fields, const Memory& memory, const Stated& stated, Costs& costs) {
  const std::string type = fields.text("type");
  if ((!stated[0] || !stated[1]) && memory.kind == MemoryKind::dram) {
    if (type.empty()) {
      return fields.error(stated[0] ? "write_energy" : "read_energy",
                          "the energy of this DRAM is left out, and so is its type",
                          "state read_energy and write_energy, or type: LPDDR4");
    }
    const auto derived = dram_costs(type);
    if (!derived) {
      return fields.error("type", fmt::format("no table has the energy of '{}'", shown(type)),
                          meant_name(type, dram_types()));
    }
    for (const std::size_t i : {0, 1}) {
      if (stated[i]) continue;
      const DerivedCost& cost = i == 0 ? derived->read_pj_per_bit : derived->write_pj_per_bit;
      costs[i] = cost.value * widest(memory, i == 0);
      fields.note_derived(cost_keys[i], costs[i], cost_measures[i], cost.source, cost.confidence);
    }
  }
  for (std::size_t i = memory.kind == MemoryKind::dram ? 2 : 0; i < costs.size(); ++i) {
    if (!stated[i]) {
      fields.note_derived(cost_keys[i], 0, cost_measures[i], "left out, and no table has it: counted as 0", 'D');
    }
  }
  return Done{};
}

}  // namespace

Status read_memory_costs(const ReadState& state, const Fields& fields, const DefaultSize& by_default, Memory& memory) {
  if (fields.has("type") && memory.kind != MemoryKind::dram) {
    return fields.error("type", "only DRAM has a type", "remove it, or write kind: dram");
  }
  Stated stated;
  MONET_TRY(stated[0], read_energy(fields, "read_energy", widest(memory, true)));
  MONET_TRY(stated[1], read_energy(fields, "write_energy", widest(memory, false)));
  MONET_TRY(stated[2], fields.quantity("static_power"));
  MONET_TRY(stated[3], fields.quantity("area"));
  Costs costs{};
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = stated[i].value_or(0);
  const bool on_chip = memory.kind == MemoryKind::registers || memory.kind == MemoryKind::sram;
  MONET_RETURN_IF_ERROR(on_chip ? derive_on_chip(state, fields, by_default, memory, stated, costs)
                                : derive_off_chip(fields, memory, stated, costs));
  memory.read_pj = costs[0];
  memory.write_pj = costs[1];
  memory.static_w = costs[2];
  memory.area_mm2 = costs[3];
  return Done{};
}

}  // namespace monet
