// Costs that a file leaves out, from published tables: each answer names its table.
#pragma once

#include "graph/nests.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

struct DerivedCost {
  double value = 0;
  std::string source;  // the table and how it was used: "CACTI 7 at 22 nm, between 32 KiB and 64 KiB"
  // At a point of the table that of the table, B between points of table A, D where it was scaled, extrapolated or
  // composed of several.
  char confidence = 'D';
};
// Sizes, widths and technology nodes are required to be positive.

// One SRAM macro of that size with words of that width, at a technology node.
struct SramCosts {
  DerivedCost read_pj, write_pj;  // for one whole word
  DerivedCost static_w;
  DerivedCost area_mm2;
};
SramCosts sram_costs(double size_bytes, double width_bits, double technology_nm);

// A register file: flip-flops while it is smaller than the smallest SRAM (512 B), then as SRAM.
SramCosts register_costs(double size_bytes, double width_bits, double technology_nm);

// One operation of a kind at a precision ("fp32", "int8" …; `accumulate` empty: the same).
// Nothing for a kind or precision that no table knows.
std::optional<DerivedCost> operation_pj(Count kind, std::string_view precision, std::string_view accumulate,
                                        double technology_nm);

// Square micrometres of the arithmetic of one lane: a multiplier at a precision, an adder for its sums (`accumulate`
// empty: the same). Without registers, wires and control. Nothing for a precision that no table knows.
std::optional<DerivedCost> lane_um2(bool multiplies, bool adds, std::string_view precision, std::string_view accumulate,
                                    double technology_nm);

// Picojoules a bit of a type of DRAM: "LPDDR4", "HBM2e" …; nothing for a type that no table knows.
struct DramCosts {
  DerivedCost read_pj_per_bit, write_pj_per_bit;
};
std::optional<DramCosts> dram_costs(std::string_view type);
const std::vector<std::string>& dram_types();

}  // namespace monet
