// What a machine has in all.
#pragma once

#include "hardware/hardware.h"

#include <cstdint>
#include <set>

namespace monet {

struct MachineTotals {
  double area_mm2 = 0, static_w = 0;
  double macs_per_cycle = 0;                     // of all arrays at rate 1; 0 for machines described by rates alone
  std::int64_t on_chip_bits = 0, dram_bits = 0;  // registers and SRAM; DRAM: all instances
};

// Memories that no core has for itself.
std::set<MemoryId> system_memories(const Hardware& hardware);

MachineTotals totals_of(const Hardware& hardware);

}  // namespace monet
