#include "present/text/mapping_kernels.h"

#include "base/quantities.h"

#include <fmt/format.h>

namespace monet {

namespace {

std::string tile_text(const MappedKernel& kernel) {
  if (kernel.tile_m == 0) return "-";
  return fmt::format("{}x{}", kernel.tile_m, kernel.tile_n);
}

std::string law_text(const MappedKernel& kernel) {
  if (kernel.law_of.empty()) return kernel.law + ", defaults";
  if (kernel.law_of != kernel.kernel_class) return fmt::format("{} of {}", kernel.law, kernel.law_of);
  return kernel.law;
}

}  // namespace

Text kernel_table(const NetworkMapping& mapping) {
  Table table({{"operator"},
               {"kernel"},
               {"law"},
               {"measured", Table::Align::right},
               {"MACs", Table::Align::right},
               {"tile", Table::Align::right},
               {"split", Table::Align::right},
               {"waves", Table::Align::right},
               {"cold", Table::Align::right},
               {"us", Table::Align::right},
               {"bound us", Table::Align::right},
               {"used", Table::Align::right},
               {"energy", Table::Align::right}});
  const double cycles_in_us = mapping.clock_hz / 1e6;
  for (const MappedLayer& layer : mapping.layers) {
    const MappedKernel& kernel = *layer.kernel;
    const bool tiled = kernel.tile_m > 0;
    table.add({layer.name, kernel.kernel_class, law_text(kernel), fmt::format("{}", kernel.measured),
               with_prefix(layer.macs), tile_text(kernel), tiled ? fmt::format("{}", kernel.split) : "-",
               tiled ? fmt::format("{:.0f}", kernel.waves) : "-", fmt::format("{:.0f}%", 100 * kernel.cold_share),
               fmt::format("{:.4g}", kernel.us), fmt::format("{:.4g}", layer.bound_cycles / cycles_in_us),
               fmt::format("{:.1f}%", 100 * layer.utilization), energy_text(layer.energy_pj)});
  }
  table.add_rule();
  table.add({"total", "", "", "", with_prefix(mapping.macs), "", "", "", "",
             fmt::format("{:.4g}", mapping.cycles / cycles_in_us),
             fmt::format("{:.4g}", mapping.bound_cycles / cycles_in_us), "", energy_text(mapping.energy_pj)});
  return table + fmt::format("\n{} launches, one after the other; {} operators launch nothing\n", mapping.layers.size(),
                             mapping.views);
}

}  // namespace monet
