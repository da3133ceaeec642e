// What a tile costs while it runs on a core of a kind; equal tiles on equal cores share one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace monet {

// Bits of a port's width that a tile takes while it runs: whole words, also where an access needs fewer.
struct PortUse {
  std::uint8_t level = 0;  // of the core; the number of its levels: home memory that is no level of it
  std::int8_t port = 0;
  double bits = 0;
};

struct HeldBytes {
  std::uint8_t level = 0;  // of the core
  std::int64_t bytes = 0;
};

struct TileCost {
  double cycles = 0;  // with all the bandwidth that it wants
  double compute_cycles = 0, stall_cycles = 0, load_cycles = 0, fill_cycles = 0;  // these four add up to `cycles`
  double ideal_cycles = 0;
  double bound_cycles = 0;  // no mapping takes less
  double macs = 0;
  double compute_pj = 0, network_pj = 0;
  std::vector<double> level_pj;  // by level of the core, and one more: home memory that is no level of it
  // Paths (a bit each) whose data stream through the core from and to home memory while it runs.
  std::uint8_t streamed = 0;
  double home_read_bits = 0, home_write_bits = 0;
  std::vector<PortUse> ports;   // of memories that others use as well: the core's local memories, and home
  std::vector<HeldBytes> held;  // of the core's local memories, for what streams and what passes between nests
  std::string precision;        // that it runs in
  bool converted = false;       // its products run in blocks, though their operands are none
  std::string bound_by;

  double energy_pj() const {
    double sum = compute_pj + network_pj;
    for (double pj : level_pj) sum += pj;
    return sum;
  }
};

}  // namespace monet
