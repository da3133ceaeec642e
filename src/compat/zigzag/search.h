// ZigZag 3.8.5's per-layer search: its unrollings, every order of its bounded factors, its model, its choice between
// equals. The same answers, defects included.
#pragma once

#include "compat/zigzag/layer.h"
#include "compat/zigzag/options.h"
#include "mapping/mapping.h"
#include "mapping/target.h"

#include <monet/expected.h>

#include <array>
#include <string>
#include <vector>

namespace monet {

struct ZigzagLane {
  Dim loop = Dim::K;
  double size = 1;
};

// One operand at one memory level.
struct ZigzagLevel {
  std::uint8_t memory = 0;                        // of the target
  std::array<double, transfer_count> accesses{};  // of whole words, by Transfer
  double energy_pj = 0;
  std::vector<Loop> loops;  // temporal, innermost first
};

struct ZigzagOperandResult {
  char name = 'O';
  std::vector<ZigzagLevel> levels;  // lowest first
  // Lanes that level i serves beyond those below it; entry 0 is the lowest level, the last what none serves. `average`
  // counts lanes that work on average, `whole` their whole part.
  std::vector<std::vector<ZigzagLane>> average;
  std::vector<std::vector<ZigzagLane>> whole;
};

struct ZigzagResult {
  double macs = 0;
  double energy_pj = 0;
  double mac_pj = 0;
  double memory_pj = 0;
  double ideal_cycles = 0;
  double ideal_temporal_cycles = 0;
  double stall_cycles = 0;
  double onload_cycles = 0;
  double offload_cycles = 0;
  double latency0 = 0;                                        // computing and stalls
  double latency1 = 0;                                        // and loading
  double latency2 = 0;                                        // and unloading: the latency
  std::array<ZigzagOperandResult, zigzag_operands> operands;  // in the order of the layer's
  std::vector<Loop> order;                                    // temporal, innermost first
  MappedProblem mapped;                                       // the same as a mapping; operands in the layer's order
  double evaluated = 0;                                       // orders that were costed
};

// The target is taken as it is: levels, ports, sizes, energies of accesses and MACs; nothing else of it counts.
// Fails where ZigZag does: when no order fits the memories, when the mapping names what is not there.
Expected<ZigzagResult> zigzag_map(const ZigzagLayer& layer, const Target& target, const ZigzagMapping& mapping = {},
                                  const ZigzagOptions& options = {});

}  // namespace monet
