#include "compat/zigzag/result.h"

#include <algorithm>

namespace monet::zigzag {

namespace {

Loop temporal_loop(const ZigzagLayer& layer, const State& state, std::size_t i) {
  return {layer.loops[state.loop[i]].name, static_cast<std::int64_t>(state.size[i])};
}

std::vector<std::vector<ZigzagLane>> lanes(const ZigzagLayer& layer, const LevelLoops& levels) {
  std::vector<std::vector<ZigzagLane>> made;
  for (const auto& level : levels) {
    auto& list = made.emplace_back();
    for (const Unrolled& each : level) list.push_back({layer.loops[each.loop].name, each.size});
  }
  return made;
}

ZigzagOperandResult operand_result(const ZigzagLayer& layer, const Plan& plan, const State& state,
                                   const Unrolling& unrolling, std::size_t o) {
  ZigzagOperandResult made;
  made.name = layer.operands[o].name;
  std::size_t i = 0;
  for (std::size_t level = 0; level < plan.operands[o].levels; ++level) {
    ZigzagLevel& entry = made.levels.emplace_back();
    entry.memory = plan.operands[o].memory[level];
    entry.accesses = state.accesses[o][level];
    entry.energy_pj = state.level_pj[o][level];
    for (; i < state.cut[o][level]; ++i) entry.loops.push_back(temporal_loop(layer, state, i));
  }
  made.average = lanes(layer, unrolling.average[o].loops);
  made.whole = lanes(layer, unrolling.whole[o].loops);
  return made;
}

Mapping mapping_of(const Plan& plan, const State& state, const ArrayMapping& array, const ArrayMapping& average_lanes) {
  Mapping made;
  for (const auto& [dimension, loops] : average_lanes) {
    const auto& given = std::ranges::find(array, dimension, &ArrayMapping::value_type::first)->second;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      made.spatial.push_back({dimension, loops[k].loop, static_cast<std::int64_t>(given[k].size), loops[k].size});
    }
  }
  for (std::size_t i = 0; i < state.count; ++i) {
    made.temporal.push_back({state.loop[i], static_cast<std::int64_t>(state.size[i]), state.size[i]});
  }
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    const auto& cut = state.cut[o];
    made.cuts.emplace_back(cut.begin(), cut.begin() + plan.operands[o].levels);
  }
  return made;
}

MappingCost cost_of(const Plan& plan, const State& state) {
  MappingCost cost;
  cost.cycles = state.latency;
  cost.ideal_cycles = plan.ideal_cycles;
  cost.compute_cycles = state.cycles[state.count];
  cost.stall_cycles = state.stall;
  cost.load_cycles = state.onload;
  cost.unload_cycles = state.offload;
  cost.energy_pj = state.energy_pj;
  cost.compute_pj = plan.mac_pj * plan.macs;
  cost.macs = plan.macs;
  cost.memory_pj.assign(plan.memories.size(), 0);
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    auto& levels = cost.traffic.emplace_back();
    for (std::size_t level = 0; level < plan.operands[o].levels; ++level) {
      cost.memory_pj[plan.operands[o].memory[level]] += state.level_pj[o][level];
      Traffic& traffic = levels.emplace_back();
      traffic.words = state.accesses[o][level];
      for (std::size_t t = 0; t < transfer_count; ++t) {
        traffic.bits[t] = state.accesses[o][level][t] * plan.operands[o].link[level][t].max_bits;
      }
    }
  }
  return cost;
}

}  // namespace

ZigzagResult result_of(const ZigzagLayer& layer, const Plan& plan, const State& state, const ArrayMapping& mapping,
                       const Unrolling& unrolling) {
  ZigzagResult made;
  made.macs = plan.macs;
  made.energy_pj = state.energy_pj;
  made.mac_pj = plan.mac_pj * plan.macs;
  made.memory_pj = state.memory_pj;
  made.ideal_cycles = plan.ideal_cycles;
  made.ideal_temporal_cycles = state.cycles[state.count];
  made.stall_cycles = state.stall;
  made.onload_cycles = state.onload;
  made.offload_cycles = state.offload;
  made.latency0 = state.latency0;
  made.latency1 = state.latency1;
  made.latency2 = state.latency;
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    made.operands[o] = operand_result(layer, plan, state, unrolling, o);
  }
  for (std::size_t i = 0; i < state.count; ++i) made.order.push_back(temporal_loop(layer, state, i));
  made.mapped.mapping = mapping_of(plan, state, mapping, unrolling.lanes);
  made.mapped.cost = cost_of(plan, state);
  return made;
}

}  // namespace monet::zigzag
