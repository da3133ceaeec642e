// The three objectives alone, for searches that look at very many schedules. The same numbers as the full breakdown.
#pragma once

#include "evaluate/account/step.h"

#include <cstdint>
#include <vector>

namespace monet {

struct Totals {
  double cycles = 0;
  double energy_pj = 0;
  std::vector<std::int64_t> live_peak_bytes;  // by memory
};

// Linear in tiles, transfers and stays that are spread over time.
Totals totals(const Hardware& hardware, const Schedule& schedule);

// Most bytes that each of `memories` memories holds at one moment. What ends at a moment leaves before what starts
// there comes.
std::vector<std::int64_t> live_peaks(std::size_t memories, const Schedule& schedule);

}  // namespace monet
