// Registers: flip-flops below the smallest SRAM macro, the SRAM table from there on.
#include "base/require.h"
#include "hardware/derive/costs.h"
#include "hardware/derive/scaling.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

// Aladdin's register table in Accelergy, 40 nm: a bit costs that to read, and that much area. Confidence A.
constexpr double register_node_nm = 40;
constexpr double register_pj_per_bit = 0.009;
constexpr double register_um2_per_bit = 5.98;
constexpr double register_scaling_voltage = 0.9;
constexpr double smallest_sram_bytes = 512;

}  // namespace

SramCosts register_costs(double size_bytes, double width_bits, double technology_nm) {
  MONET_REQUIRE(size_bytes > 0 && width_bits > 0 && technology_nm > 0);
  SramCosts costs = sram_costs(size_bytes, width_bits, technology_nm);
  if (size_bytes >= smallest_sram_bytes) return costs;
  const bool scaled = technology_nm != register_node_nm;
  const std::string source =
      scaled ? fmt::format("register of Aladdin at 40 nm, scaled to {:g} nm by {}", technology_nm, scaling_source)
             : "register of Aladdin at 40 nm";
  const char confidence = scaled ? 'D' : 'A';
  // Never more than the smallest macro would take, so that costs rise with size.
  const SramCosts macro = sram_costs(smallest_sram_bytes, width_bits, technology_nm);
  const double energy =
      register_pj_per_bit * width_bits * energy_ratio(register_node_nm, technology_nm, register_scaling_voltage);
  costs.read_pj = {std::min(energy, macro.read_pj.value), source, confidence};
  costs.write_pj = {std::min(energy, macro.write_pj.value), source + "; a write as a read", 'D'};
  costs.area_mm2 = {register_um2_per_bit * 1e-6 * size_bytes * 8 * area_ratio(register_node_nm, technology_nm), source,
                    confidence};
  return costs;
}

}  // namespace monet
