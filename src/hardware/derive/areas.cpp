// Area of arithmetic: Horowitz publishes that of adders and multipliers at 45 nm; other nodes follow by scaling. What
// he lacks is had from what he has: by widths for integers, by the ratio of energies in another publication for bf16.
#include "base/embedded.h"
#include "base/require.h"
#include "hardware/derive/costs.h"
#include "hardware/derive/scaling.h"
#include "hardware/derive/table.h"

#include <fmt/format.h>

namespace monet {

namespace {

constexpr double area_node_nm = 45;
constexpr std::string_view area_source = "Horowitz, ISSCC 2014";

const CostTable& area_table() {
  static const CostTable table(embedded_text("data/hardware/operations.csv"));
  return table;
}

std::optional<DerivedCost> published_um2(std::string_view operation, std::string_view precision) {
  const CostTable& table = area_table();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "family") == "horowitz" && table.text(row, "operation") == operation &&
        table.text(row, "precision") == precision)
      return DerivedCost{table.number(row, "um2"), std::string(area_source), table.text(row, "confidence").front()};
  }
  return std::nullopt;
}

DerivedCost scaled_area(DerivedCost cost, double factor, std::string_view reason) {
  return {cost.value * factor, fmt::format("{}, {}", cost.source, reason), 'D'};
}

// An adder ("add") or a multiplier ("multiply"), at 45 nm.
std::optional<DerivedCost> circuit_um2(std::string_view operation, std::string_view precision) {
  if (auto known = published_um2(operation, precision)) return known;
  const bool adds = operation == "add";
  const auto as = [&](std::string_view other, double factor, std::string_view reason) {
    return scaled_area(*circuit_um2(operation, other), factor, reason);
  };
  if (precision == "uint8") return as("int8", 1, "uint8 as int8");
  if (precision == "int16") return as("int8", 4, "int16 by the square of its width");  // adders are published
  if (precision == "int4") return as("int8", adds ? 0.5 : 0.25, "int4 by its width");
  if (precision == "tf32") return as(adds ? "fp32" : "fp16", 1, adds ? "tf32 adds as fp32" : "tf32 multiplies as fp16");
  if (precision == "bf16") {
    const Count kind = adds ? Count::add : Count::multiply;
    constexpr double jouppi_node_nm = 7;
    const auto narrow = operation_pj(kind, "bf16", {}, jouppi_node_nm),
               wide = operation_pj(kind, "fp16", {}, jouppi_node_nm);
    MONET_REQUIRE(narrow && wide);
    return as("fp16", narrow->value / wide->value, "bf16 : fp16 as their energies in " + wide->source);
  }
  if (precision.starts_with("fp8")) {
    return as("bf16", 0.45, "fp8 0.4 to 0.5 of bf16 by the squares of significands");
  }
  return std::nullopt;
}

}  // namespace

std::optional<DerivedCost> lane_um2(bool multiplies, bool adds, std::string_view precision, std::string_view accumulate,
                                    double technology_nm) {
  MONET_REQUIRE(technology_nm > 0);
  DerivedCost sum{0, {}, 'A'};
  const auto add = [&](std::string_view operation, std::string_view format) {
    const auto circuit = circuit_um2(operation, format);
    if (!circuit) return false;
    sum.value += circuit->value;
    sum.source += fmt::format("{}{} of {}: {}", sum.source.empty() ? "" : " + ", operation, format, circuit->source);
    return true;
  };
  if (multiplies && !add("multiply", precision)) return std::nullopt;
  if (adds && !add("add", accumulate.empty() ? precision : accumulate)) return std::nullopt;
  if (technology_nm != area_node_nm) {
    sum = scaled_area(sum, area_ratio(area_node_nm, technology_nm),
                      fmt::format("scaled to {:g} nm by {}", technology_nm, scaling_source));
  }
  sum.confidence = 'D';
  return sum;
}

}  // namespace monet
