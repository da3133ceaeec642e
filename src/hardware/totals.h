// What a machine has in all.
#pragma once

#include "hardware/hardware.h"

#include <cstdint>
#include <set>
#include <string>

namespace monet {

struct MachineTotals {
  // Of what states one or has it from a table. It is no total while a part lacks its own: that part, empty: none does.
  // Parts that need an area are what computes and what is kept on the chip; those that need static power, cores, unless
  // the machine states some for the whole. Nothing has an area of 0.
  double area_mm2 = 0, static_w = 0;
  std::string without_area, without_static_power;
  double macs_per_cycle = 0;                     // of all arrays at rate 1; 0 for machines described by rates alone
  std::int64_t on_chip_bits = 0, dram_bits = 0;  // registers and SRAM; DRAM: all instances
};

// A MAC takes the unit as much as a product and a sum: it has no unit for MACs, and they count for no peak where others
// do.
bool composes_macs(const Unit& unit);

// Memories that no core has for itself.
std::set<MemoryId> system_memories(const Hardware& hardware);

MachineTotals totals_of(const Hardware& hardware);

}  // namespace monet
