#include "base/csv.h"
#include "base/quantities.h"
#include "present/shared/numbers.h"
#include "present/shared/reach.h"
#include "present/text/mapping_kernels.h"

#include <monet/map.h>
#include <monet/text.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

std::string mapped_energy(double pj) {
  constexpr const char* units[] = {"pJ", "nJ", "uJ", "mJ", "J", "kJ"};
  std::size_t unit = 0;
  for (; pj >= 999.95 && unit < 5; ++unit) pj /= 1000;
  return fmt::format("{:.4g} {}", pj, units[unit]);
}

// What binds the nest that takes longest.
std::string bound_text(const MappedLayer& layer) {
  const auto longest = std::ranges::max_element(layer.nests, {}, &MappedNest::cycles);
  return longest == layer.nests.end() ? "" : longest->bound_by;
}

double stall_of(const MappedLayer& layer) {
  double stall = 0;
  for (const MappedNest& nest : layer.nests) stall += nest.stall_cycles + nest.load_cycles + nest.unload_cycles;
  return stall;
}

using Energies = std::vector<std::pair<std::string, double>>;

void add_to(Energies& energies, const std::string& name, double pj) {
  const auto found = std::ranges::find(energies, name, &Energies::value_type::first);
  if (found == energies.end()) {
    energies.emplace_back(name, pj);
  } else {
    found->second += pj;
  }
}

std::string energy_by_level(const MappedLayer& layer) {
  Energies parts;
  const auto add = [&](const std::string& name, double pj) {
    if (pj != 0) add_to(parts, name, pj);
  };
  for (const MappedNest& nest : layer.nests) {
    add("compute", nest.compute_pj);
    for (const auto& [memory, pj] : nest.memory_pj) add(memory.substr(memory.rfind('/') + 1), pj);
    add("network", nest.network_pj);
    add("static", nest.static_pj);
  }
  std::string text;
  for (const auto& [name, pj] : parts) {
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", name, 100 * pj / std::max(layer.energy_pj, 1e-300));
  }
  return text;
}

std::string nest_text(const MappedNest& nest) {
  std::string text =
      fmt::format("  {} {}: {} cycles = {} compute + {} stall + {} load + {} unload + {} fill and latency; {}\n",
                  nest.unit.empty() ? "rate" : nest.unit, nest.precision, cycles_text(nest.cycles),
                  cycles_text(nest.compute_cycles), cycles_text(nest.stall_cycles), cycles_text(nest.load_cycles),
                  cycles_text(nest.unload_cycles), cycles_text(nest.fill_cycles), mapped_energy(nest.energy_pj));
  std::size_t begin = 0;
  while (begin < nest.order.size()) {
    const std::size_t end = nest.order.find('\n', begin);
    text += "    " + nest.order.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  for (const MemoryTraffic& entry : nest.traffic) {
    text += fmt::format("    {} in {}: {:.6g} words read, {:.6g} written\n", entry.operand, entry.memory,
                        entry.read_words, entry.written_words);
  }
  return text;
}

}  // namespace

Text to_text(const NetworkMapping& mapping, const MapView& view) {
  const bool kernels = !mapping.reach.laws.empty();
  Text text = fmt::format("{} on {}, {}{}\n", mapping.model, mapping.hardware,
                          kernels ? mapping.reach.lowering + " kernels" : mapping.objective + " objective",
                          mapping.mode == "zigzag" ? ", ZigZag's search and rules" : "");
  text += fmt::format("{:<12} {}\n", "numbers", numbers_text(mapping.recipe, mapping.recipe_from));
  if (const std::string reach = reach_text(mapping.reach); !reach.empty())
    text += fmt::format("{:<12} {}\n", "model", reach);
  text += "\n";
  if (kernels) return text + kernel_table(mapping);
  Table table({{"operator"},
               {"type"},
               {"core"},
               {"MACs", Table::Align::right},
               {"cycles", Table::Align::right},
               {"ideal", Table::Align::right},
               {"used", Table::Align::right},
               {"stall", Table::Align::right},
               {"bound", Table::Align::right},
               {"energy", Table::Align::right},
               {"binds"},
               {"energy by level"}});
  for (const MappedLayer& layer : mapping.layers) {
    table.add({layer.name, layer.op, layer.core, with_prefix(layer.macs), cycles_text(layer.cycles),
               cycles_text(std::ceil(layer.ideal_cycles)), fmt::format("{:.1f}%", 100 * layer.utilization),
               cycles_text(stall_of(layer)),
               fmt::format("{:.2f}x", layer.bound_cycles > 0 ? layer.cycles / layer.bound_cycles : 1.0),
               mapped_energy(layer.energy_pj), bound_text(layer), energy_by_level(layer)});
  }
  table.add_rule();
  table.add({"total", "", "", with_prefix(mapping.macs), cycles_text(mapping.cycles), "", "", "",
             fmt::format("{:.2f}x", mapping.bound_cycles > 0 ? mapping.cycles / mapping.bound_cycles : 1.0),
             mapped_energy(mapping.energy_pj), "", ""});
  text += table;
  if (view.nests) {
    for (const MappedLayer& layer : mapping.layers) {
      text += "\n" + layer.name + "\n";
      for (const MappedNest& nest : layer.nests) text += nest_text(nest);
    }
  }
  text += "\n";
  if (mapping.clock_hz > 0) {
    text += fmt::format("{} cycles at {:.4g} MHz are {}, one operator after the other\n", cycles_text(mapping.cycles),
                        mapping.clock_hz / 1e6, seconds_text(mapping.cycles / mapping.clock_hz));
  }
  text += fmt::format("{} operators, {} different, {:.0f} mappings costed; {} {} free\n", mapping.layers.size(),
                      mapping.unique, mapping.evaluated, mapping.views,
                      mapping.mode == "zigzag" ? "other nodes are" : "views are");
  if (!mapping.unmapped.empty()) {
    text += fmt::format("\nnot mapped and not counted ({}):\n", mapping.unmapped.size());
    for (const MappedLayer& layer : mapping.unmapped) {
      text += fmt::format("  {} ({}): {}\n", layer.name, layer.op, layer.reason);
    }
  }
  return text;
}

std::string to_csv(const NetworkMapping& mapping) {
  std::string text =
      "name,operator,phase,core,macs,cycles,ideal_cycles,utilization,compute_cycles,stall_cycles,load_cycles,"
      "unload_cycles,fill_cycles,bound_cycles,bound_by,energy_pj,compute_pj,memory_pj,network_pj,static_pj,energy_by_"
      "memory,"
      "order,reason,kernel,law,tile_m,tile_n,split,waves\n";
  const auto line = [&](const MappedLayer& layer) {
    MappedNest sum;
    double memory_pj = 0;
    Energies memories;
    std::string by_memory, order;
    for (const MappedNest& nest : layer.nests) {
      sum.compute_cycles += nest.compute_cycles;
      sum.stall_cycles += nest.stall_cycles;
      sum.load_cycles += nest.load_cycles;
      sum.unload_cycles += nest.unload_cycles;
      sum.fill_cycles += nest.fill_cycles;
      sum.compute_pj += nest.compute_pj;
      sum.network_pj += nest.network_pj;
      sum.static_pj += nest.static_pj;
      for (const auto& [memory, pj] : nest.memory_pj) {
        memory_pj += pj;
        add_to(memories, memory, pj);
      }
      order += (order.empty() ? "" : "|") + nest.order;
    }
    for (const auto& [memory, pj] : memories) {
      by_memory += fmt::format("{}{}={}", by_memory.empty() ? "" : ";", memory, pj);
    }
    std::ranges::replace(order, '\n', ';');
    const MappedKernel kernel = layer.kernel.value_or(MappedKernel{});
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                        csv_field(layer.name), layer.op, layer.phase, csv_field(layer.core), layer.macs, layer.cycles,
                        layer.ideal_cycles, layer.utilization, sum.compute_cycles, sum.stall_cycles, sum.load_cycles,
                        sum.unload_cycles, sum.fill_cycles, layer.bound_cycles, csv_field(bound_text(layer)),
                        layer.energy_pj, sum.compute_pj, memory_pj, sum.network_pj, sum.static_pj, csv_field(by_memory),
                        csv_field(order), csv_field(layer.reason), kernel.kernel_class, kernel.law, kernel.tile_m,
                        kernel.tile_n, kernel.split, kernel.waves);
  };
  for (const MappedLayer& layer : mapping.layers) line(layer);
  for (const MappedLayer& layer : mapping.unmapped) line(layer);
  return text;
}

}  // namespace monet
