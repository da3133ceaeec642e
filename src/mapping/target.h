// What a problem is mapped on: one unit of a core, with the memories above it, as the model needs them: nothing of the
// rest of the machine, so that equal cores give equal targets.
#pragma once

#include "hardware/hardware.h"

#include <monet/expected.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monet {

struct TargetMemory {
  std::string name;
  MemoryId memory;
  MemoryKind kind = MemoryKind::sram;
  std::int64_t size_bits = 0;
  double read_pj = 0, write_pj = 0;  // for one whole word
  double latency_cycles = 0;
  bool double_buffered = false;
  double network_pj_per_bit = 0;
  double link_pj_per_bit = 0;  // of the link to the level below
  double link_bits = 0;        // bits a cycle; 0: no link
  double link_latency_cycles = 0;
  std::vector<Port> ports;
  std::array<std::array<std::int8_t, transfer_count>, path_count> port{};  // no_port: the path does not pass here
  std::uint32_t served = 0;  // dimensions of the unit that one instance feeds
  std::int64_t instances = 1;
  double static_w = 0;  // of all instances; 0 where others use it too
};

struct Target {
  Unit unit;
  std::vector<TargetMemory> memories;                        // lowest first
  std::array<std::vector<std::uint8_t>, path_count> levels;  // memories of a path, lowest first
  Effects effects;
  double clock_hz = 0;
  double static_w = 0;  // of the core and its memories
};

// The unit of a core, its levels, and above them `outer` if it is valid and the core does not use it already (reached
// through the link that joins them: its width and energy are those of the level).
// Fails when a path has no memory, or `outer` cannot be reached.
Expected<Target> target_of(const Hardware& hardware, CoreId core, std::size_t unit, MemoryId outer = {});

}  // namespace monet
