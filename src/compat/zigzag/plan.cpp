#include "compat/zigzag/plan.h"

#include <algorithm>
#include <cmath>

namespace monet::zigzag {

namespace {

void add_lanes(OperandPlan& plan, const std::array<const OperandUnrolling*, variant_count>& unrolling) {
  const std::size_t entries = unrolling[average]->loops.size();
  std::uint8_t count = 0;
  for (std::size_t i = 0; i < entries; ++i) {
    plan.first[i] = count;
    for (std::size_t k = 0; k < unrolling[average]->loops[i].size(); ++k, ++count) {
      for (std::size_t v = 0; v < variant_count; ++v) plan.unrolled[v][count] = unrolling[v]->loops[i][k];
    }
    plan.units[i] = unrolling[average]->units[i];
    if (i + 1 == entries) continue;
    for (std::size_t v = 0; v < variant_count; ++v) plan.boosts[v][i] = unrolling[v]->boosts[i];
  }
  plan.first[entries] = count;
  for (std::size_t v = 0; v < variant_count; ++v) plan.irrelevant_lanes[v][entries] = 1;
  for (std::size_t i = entries; i-- > 0;) {
    plan.has_irrelevant_loop[i] = plan.has_irrelevant_loop[i + 1];
    for (std::size_t v = 0; v < variant_count; ++v) {
      plan.irrelevant_lanes[v][i] = plan.irrelevant_lanes[v][i + 1];
      plan.has_irrelevant_lanes[v][i] = plan.has_irrelevant_lanes[v][i + 1];
      for (std::size_t k = plan.first[i]; k < plan.first[i + 1]; ++k) {
        const Unrolled& each = plan.unrolled[v][k];
        if (plan.relevance[each.loop] != Relevance::irrelevant) continue;
        plan.has_irrelevant_loop[i] = true;
        plan.irrelevant_lanes[v][i] *= each.size;
        plan.has_irrelevant_lanes[v][i] |= each.size > 1;
      }
    }
  }
}

void add_links(OperandPlan& plan, const Machine& machine, Path path) {
  const auto& levels = machine.levels[static_cast<std::size_t>(path)];
  plan.levels = static_cast<std::uint8_t>(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const MachineMemory& memory = machine.memories[levels[i]];
    plan.memory[i] = levels[i];
    for (std::size_t t = 0; t < transfer_count; ++t) {
      const std::int8_t index = memory.port[static_cast<std::size_t>(path)][t];
      if (index == no_port) continue;
      const MachinePort& port = memory.ports[static_cast<std::size_t>(index)];
      plan.link[i][t] = {port.min_bits, port.max_bits, port.min_bits / port.max_bits, true};
    }
  }
}

bool same(const LevelLoops& a, const LevelLoops& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < a[i].size(); ++k) {
      if (a[i][k].size != b[i][k].size) return false;
    }
  }
  return true;
}

void add_memories(Plan& plan, const Machine& machine, const Links& links) {
  for (std::size_t m = 0; m < machine.memories.size(); ++m) {
    const MachineMemory& from = machine.memories[m];
    MemoryPlan memory{.size_bits = from.size_bits, .read_pj = from.read_pj, .write_pj = from.write_pj};
    for (const MachinePort& port : from.ports) memory.width_bits = std::max(memory.width_bits, port.max_bits);
    for (Path path : from.paths) {
      const std::uint8_t o = links.operand[static_cast<std::size_t>(path)];
      memory.operands[memory.operand_count] = o;
      memory.level[memory.operand_count] = from.level[static_cast<std::size_t>(path)];
      memory.top[memory.operand_count] = from.level[static_cast<std::size_t>(path)] + 1 == plan.operands[o].levels;
      ++memory.operand_count;
    }
    plan.memories.push_back(memory);
    for (const MachinePort& port : from.ports) {
      PortPlan made{port.max_bits, port.both_inputs, 0, {}};
      for (const ServedLink& link : port.served) {
        const std::uint8_t o = links.operand[static_cast<std::size_t>(link.path)];
        const auto transfer = static_cast<std::uint8_t>(link.transfer);
        made.links[made.count++] = {o, link.level, transfer};
        plan.both_inputs[o][link.level][transfer] = port.both_inputs;
      }
      plan.ports.push_back(made);
    }
  }
  plan.order = machine.order;
}

}  // namespace

Plan plan_of(const ZigzagLayer& layer, const Machine& machine, const Links& links, const Unrolling& unrolling,
             const ZigzagOptions& options) {
  Plan plan;
  plan.loop_count = static_cast<std::uint8_t>(layer.loops.size());
  plan.window_of.fill(-1);
  plan.window_count = static_cast<std::uint8_t>(layer.windows.size());
  for (std::size_t w = 0; w < layer.windows.size(); ++w) {
    plan.windows[w] = WindowSize(layer.windows[w]);
    plan.window_of[layer.windows[w].outer] = static_cast<std::int8_t>(w);
    plan.window_of[layer.windows[w].inner] = static_cast<std::int8_t>(w);
  }
  const Relevances relevance = relevances(layer);
  bool all_whole = true;
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    OperandPlan& operand = plan.operands[o];
    operand.output = o == 0;
    operand.windows = layer.operands[o].windows;
    operand.bits = static_cast<double>(layer.operands[o].bits);
    operand.relevance = relevance[o];
    for (std::uint8_t i : layer.operands[o].loops) {
      if (relevance[o][i] == Relevance::relevant) operand.relevant[operand.relevant_count++] = i;
    }
    add_lanes(operand, {&unrolling.average[o], &unrolling.whole[o]});
    add_links(operand, machine, links.path[o]);
    all_whole &= same(unrolling.average[o].loops, unrolling.whole[o].loops);
  }
  plan.time = all_whole ? average : whole;
  plan.final_bits = static_cast<double>(layer.final_bits);
  for (std::uint8_t i : layer.operands[0].loops) plan.output_elements *= static_cast<double>(layer.loops[i].size);
  for (const ZigzagWindow& window : layer.windows) {
    if (layer.operands[0].windows) plan.output_elements *= static_cast<double>(window.limit);
  }
  plan.macs = layer.macs();
  plan.mac_pj = machine.mac_pj;
  plan.ideal_cycles = std::ceil(plan.macs / machine.lanes);
  plan.negative_onloading = options.negative_onloading;
  add_memories(plan, machine, links);
  return plan;
}

}  // namespace monet::zigzag
