#include "evaluate/cost/zigzag_cost.h"

#include "base/try.h"

#include <algorithm>

namespace monet {

namespace {

// There every operation is a MAC, and a unit has one energy.
void count_operations_as_macs(Unit& unit) {
  const auto mac = static_cast<std::size_t>(Count::mac);
  if (unit.cycles[mac] > 0) return;
  for (std::size_t count = 0; count < count_kinds; ++count) {
    if (unit.cycles[count] <= 0) continue;
    unit.energy_pj[mac] = unit.energy_pj[count];
    return;
  }
}

}  // namespace

ZigzagMapping stream_unrolling(const Core& core) {
  ZigzagMapping mapping;
  const Unit& unit = core.units.front();
  for (std::size_t d = 0; d < unit.dimensions.size(); ++d) {
    const UnitDimension& dimension = unit.dimensions[d];
    std::vector<ZigzagUnroll> loops;
    for (const SpatialChoice& choice : core.dataflow) {
      if (choice.dimension == d) loops.push_back({choice.loop, choice.size});
    }
    if (core.dataflow.empty() && !dimension.loops.empty()) loops.push_back({dimension.loops.front(), dimension.size});
    if (!loops.empty()) mapping.spatial.emplace_back(dimension.name, std::move(loops));
  }
  return mapping;
}

Status add_zigzag_cost(TileCost& cost, const std::optional<ZigzagLayer>& layer, const Core& core, const Target& target,
                       std::span<const std::uint8_t> level, std::int64_t parallel, std::int64_t factors) {
  cost.precision = "int8";
  if (!layer) return Done{};
  Target counted = target;
  count_operations_as_macs(counted.unit);
  MONET_TRY(const ZigzagResult result,
            zigzag_map(*layer, counted, stream_unrolling(core), {.factors = factors, .parallel_cores = parallel}));
  cost.cycles += result.latency2;
  cost.compute_cycles += result.ideal_temporal_cycles;
  cost.load_cycles += result.onload_cycles + result.offload_cycles;
  cost.stall_cycles += result.stall_cycles;
  cost.ideal_cycles += result.ideal_cycles;
  cost.bound_cycles += result.ideal_cycles;
  cost.macs += result.macs;
  cost.compute_pj += result.mac_pj;
  cost.bound_by = "compute";
  for (const ZigzagOperandResult& operand : result.operands) {
    const auto path = static_cast<std::size_t>(operand.name == 'I'   ? Path::input
                                               : operand.name == 'W' ? Path::weight
                                                                     : Path::output);
    for (std::size_t l = 0; l < operand.levels.size(); ++l) {
      const ZigzagLevel& at = operand.levels[l];
      cost.level_pj[level[at.memory]] += at.energy_pj;
      if (l + 1 < operand.levels.size()) continue;
      const TargetMemory& memory = target.memories[at.memory];
      for (std::size_t t = 0; t < transfer_count; ++t) {
        const std::int8_t port = memory.port[path][t];
        if (port == no_port || at.accesses[t] <= 0) continue;
        const double bits = at.accesses[t] * static_cast<double>(memory.ports[static_cast<std::size_t>(port)].max_bits);
        (is_read(static_cast<Transfer>(t)) ? cost.home_read_bits : cost.home_write_bits) += bits;
        const auto known = std::ranges::find_if(
            cost.ports, [&](const PortUse& use) { return use.level == level[at.memory] && use.port == port; });
        if (known != cost.ports.end()) {
          known->bits += bits;
        } else {
          cost.ports.push_back({level[at.memory], port, bits});
        }
      }
    }
  }
  return Done{};
}

}  // namespace monet
