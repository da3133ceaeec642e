#include "evaluate/map/map_network.h"

#include "base/parallel.h"
#include "base/try.h"
#include "compat/zigzag/layer.h"
#include "compat/zigzag/search.h"
#include "mapping/constraints.h"
#include "mapping/operators.h"
#include "mapping/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace monet {

namespace {

Expected<Dim> loop_of(const std::string& name, const MappingFile::Entry& entry) {
  if (const auto dim = dim_named(name)) return *dim;
  return Error{.message = fmt::format("there is no loop \"{}\"", name),
               .place = entry.place,
               .advice = "loops are called B, G, K, C, D, H, OY, OX, FY, FX"};
}

Expected<Path> path_of(const std::string& operand, const MappingFile::Entry& entry) {
  if (operand == "I1") return Path::input;
  if (operand == "I2") return Path::weight;
  if (operand == "O") return Path::output;
  return Error{.message = fmt::format("there is no memory operand \"{}\"", operand),
               .place = entry.place,
               .advice = "memory operands are I1, I2 and O"};
}

Expected<ZigzagMapping> mapping_of(const MappingFile::Entry& entry, const Unit& unit) {
  MONET_RETURN_IF_ERROR(check_dimensions(entry, unit.dimensions.size()));
  ZigzagMapping mapping;
  for (std::size_t d = 0; d < entry.spatial.size(); ++d) {
    if (entry.spatial[d].empty()) continue;
    auto& [name, loops] = mapping.spatial.emplace_back();
    name = unit.dimensions[d].name;
    for (const auto& [loop, size] : entry.spatial[d]) {
      MONET_TRY(const Dim dim, loop_of(loop, entry));
      loops.push_back({dim, static_cast<std::int64_t>(size)});
    }
  }
  for (std::size_t d = 0; d < entry.hints.size(); ++d) {
    if (entry.hints[d].empty()) continue;
    auto& [name, loops] = mapping.hints.emplace_back();
    name = unit.dimensions[d].name;
    for (const std::string& loop : entry.hints[d]) {
      MONET_TRY(const Dim dim, loop_of(loop, entry));
      loops.push_back(dim);
    }
  }
  for (const MappingFile::OrderedLoop& line : entry.order) {
    ZigzagOrdered ordered{.loop = {}, .size = line.size};
    if (line.loop) {
      MONET_TRY(ordered.loop, loop_of(*line.loop, entry));
    }
    mapping.temporal.push_back(ordered);
  }
  MONET_TRY(mapping.input_path, path_of(entry.memory_operands[0], entry));
  MONET_TRY(mapping.weight_path, path_of(entry.memory_operands[1], entry));
  MONET_TRY(mapping.output_path, path_of(entry.memory_operands[2], entry));
  return mapping;
}

// How a core unrolls where no mapping file says.
ZigzagMapping mapping_of(const Core& core) {
  ZigzagMapping mapping;
  for (const SpatialChoice& choice : core.dataflow) {
    const std::string& name = core.units[0].dimensions[choice.dimension].name;
    const auto found = std::ranges::find(mapping.spatial, name, &decltype(mapping.spatial)::value_type::first);
    auto& entry =
        found == mapping.spatial.end() ? mapping.spatial.emplace_back(name, std::vector<ZigzagUnroll>()) : *found;
    entry.second.push_back({choice.loop, choice.size});
  }
  return mapping;
}

std::string order_text(const ZigzagResult& result, const Target& target) {
  std::string text;
  std::string indent;
  for (std::size_t i = result.order.size(); i-- > 0;) {
    text += fmt::format("{}for {} in {}:\n", indent, name_of(result.order[i].name), result.order[i].size);
    indent += "  ";
  }
  for (const ZigzagOperandResult& operand : result.operands) {
    text += fmt::format("{}# {}:", indent, operand.name);
    for (const ZigzagLevel& level : operand.levels) {
      text += fmt::format(" {} [", target.memories[level.memory].name);
      for (std::size_t i = 0; i < level.loops.size(); ++i) {
        text += fmt::format("{}{} {}", i > 0 ? ", " : "", name_of(level.loops[i].name), level.loops[i].size);
      }
      text += "]";
    }
    text += "\n";
  }
  return text;
}

// The longest of its parts: the model does not say which port.
const char* binding_of(const ZigzagResult& result) {
  const double loading = result.onload_cycles + result.offload_cycles;
  if (loading > std::max(result.ideal_temporal_cycles, result.stall_cycles)) return "loading";
  return result.stall_cycles > result.ideal_temporal_cycles ? "port" : "compute";
}

MappedNest nest_of(const ZigzagLayer& layer, const ZigzagResult& result, const Target& target) {
  MappedNest nest{.unit = target.unit.name, .precision = "int8"};
  for (const Loop& loop : layer.loops) nest.loops.emplace_back(name_of(loop.name), loop.size);
  for (const SpatialLoop& loop : result.mapped.mapping.spatial) {
    nest.unrolled.emplace_back(
        fmt::format("{} on {}", name_of(layer.loops[loop.loop].name), target.unit.dimensions[loop.dimension].name),
        loop.size);
  }
  nest.order = order_text(result, target);
  nest.cycles = result.latency2;
  nest.ideal_cycles = result.ideal_cycles;
  nest.compute_cycles = result.ideal_temporal_cycles;
  nest.stall_cycles = result.stall_cycles;
  nest.load_cycles = result.onload_cycles;
  nest.unload_cycles = result.offload_cycles;
  nest.energy_pj = result.energy_pj;
  nest.compute_pj = result.mac_pj;
  nest.evaluated = result.evaluated;
  nest.bound_cycles = result.ideal_cycles;
  nest.bound_by = binding_of(result);
  constexpr const char* names[] = {"input", "weight", "output"};
  for (const TargetMemory& memory : target.memories) nest.memory_pj.emplace_back(memory.name, 0);
  for (const ZigzagOperandResult& operand : result.operands) {
    for (const ZigzagLevel& level : operand.levels) {
      nest.memory_pj[level.memory].second += level.energy_pj;
      MemoryTraffic traffic{.operand = names[operand.name == 'I'   ? 0
                                             : operand.name == 'W' ? 1
                                                                   : 2],
                            .memory = target.memories[level.memory].name};
      for (std::size_t t = 0; t < transfer_count; ++t) {
        (is_read(static_cast<Transfer>(t)) ? traffic.read_words : traffic.written_words) += level.accesses[t];
      }
      nest.traffic.push_back(std::move(traffic));
    }
  }
  return nest;
}

MappedLayer layer_of(const ZigzagLayer& layer, const Node& node, const Core& core, const Target& target,
                     const Expected<ZigzagResult>& result) {
  MappedLayer mapped{.name = layer.name, .op = layer.type, .phase = std::string(name_of(node.phase))};
  if (!result) {
    mapped.reason = result.error().text();
    return mapped;
  }
  mapped.core = core.name;
  mapped.macs = result->macs;
  mapped.cycles = result->latency2;
  mapped.ideal_cycles = result->ideal_cycles;
  mapped.energy_pj = result->energy_pj;
  mapped.utilization = result->ideal_cycles / result->latency2;
  mapped.bound_cycles = result->ideal_cycles;
  mapped.nests.push_back(nest_of(layer, *result, target));
  return mapped;
}

// Its memories are filled greedily, so that more pieces may end in a worse mapping: the full search takes the best over
// the numbers of pieces from the usual one on.
Expected<ZigzagResult> best_of(const ZigzagLayer& layer, const Target& target, const ZigzagMapping& mapping,
                               ZigzagOptions search, bool full) {
  auto best = zigzag_map(layer, target, mapping, search);
  if (!full) return best;
  double evaluated = best ? best->evaluated : 0;
  for (++search.factors; search.factors <= full_factors; ++search.factors) {
    auto other = zigzag_map(layer, target, mapping, search);
    if (!other) continue;
    evaluated += other->evaluated;
    if (!best || score_of(search.objective, other->latency2, other->energy_pj) <
                     score_of(search.objective, best->latency2, best->energy_pj)) {
      best = std::move(other);
    }
  }
  if (best) best->evaluated = evaluated;
  return best;
}

}  // namespace

Expected<NetworkMapping> map_like_zigzag(const NetworkGraph& network, const Hardware& hardware, CoreId core,
                                         Objective objective, const MapOptions& options, NetworkMapping result) {
  if (!core.valid()) {
    const auto array = std::ranges::find_if(hardware.cores, [](const Core& c) { return !c.units.empty(); });
    if (array == hardware.cores.end()) {
      return Error{.message = fmt::format("{} has no core with an array", hardware.name), .place = "--hardware"};
    }
    core = CoreId(static_cast<std::size_t>(array - hardware.cores.begin()));
  }
  if (hardware[core].units.empty()) {
    return Error{.message = fmt::format("core {} has no array", hardware[core].name), .place = "--core"};
  }
  const MemoryId outer = options.on_chip ? MemoryId() : off_chip_memory(hardware, core);
  MONET_TRY(const Target target, target_of(hardware, core, 0, outer));
  std::optional<MappingFile> file;
  if (!options.mapping_file.empty()) {
    MONET_TRY(file, read_mapping_file(options.mapping_file));
  }
  for (const auto& [given, option] :
       {std::pair(!options.cache_file.empty(), "--cache"), std::pair(!options.train.precision.empty(), "--precision"),
        std::pair(!options.refine, "--no-refine")}) {
    if (given) result.notes.push_back(fmt::format("{} has no meaning with --zigzag and is left out", option));
  }
  ZigzagOptions search{.objective = objective, .factors = options.factors};
  search.negative_onloading = !options.non_negative;

  const ZigzagWorkload workload = zigzag_layers(network.graph);
  struct Task {
    const ZigzagLayer* layer;
    ZigzagMapping mapping;
    std::optional<Expected<ZigzagResult>> result;
  };
  std::vector<Task> tasks;
  std::vector<std::size_t> task_of(workload.layers.size());
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    const ZigzagLayer& layer = workload.layers[i];
    if (!wants_layer(options, network.graph[workload.nodes[i]])) continue;
    ZigzagMapping mapping = mapping_of(hardware[core]);
    if (file) {
      const MappingFile::Entry* entry = file->find(layer.name, layer.type);
      if (entry == nullptr) {
        return Error{.message = fmt::format("nothing is said of {} ({})", layer.name, layer.type),
                     .place = options.mapping_file,
                     .advice = "add an entry named default"};
      }
      MONET_TRY(mapping, mapping_of(*entry, target.unit));
    }
    // Layers of equal work are searched once, unless a file may tell them apart.
    const auto same = std::ranges::find_if(tasks, [&](const Task& t) { return !file && t.layer->same_work(layer); });
    const auto equal = std::ranges::find_if(tasks, [&](const Task& t) {
      return t.layer->same_work(layer) && file &&
             file->find(t.layer->name, t.layer->type) == file->find(layer.name, layer.type);
    });
    const auto found = file ? equal : same;
    task_of[i] = static_cast<std::size_t>(found - tasks.begin());
    if (found == tasks.end()) tasks.push_back({&layer, std::move(mapping), std::nullopt});
  }
  std::atomic<std::size_t> done = 0;
  for_each_index(tasks.size(), static_cast<std::size_t>(options.jobs), [&](std::size_t i) {
    tasks[i].result = options.stop && options.stop()
                          ? Error{.message = "stopped before it was mapped"}
                          : best_of(*tasks[i].layer, target, tasks[i].mapping, search, options.full);
    if (options.progress) options.progress(++done, tasks.size());
  });
  for (const Task& task : tasks) {
    if (task.result->has_value()) result.evaluated += (**task.result).evaluated;
  }
  result.unique = static_cast<std::int64_t>(tasks.size());
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    const Node& node = network.graph[workload.nodes[i]];
    if (!wants_layer(options, node)) continue;
    MappedLayer layer = layer_of(workload.layers[i], node, hardware[core], target, *tasks[task_of[i]].result);
    if (layer.core.empty()) {
      result.unmapped.push_back(std::move(layer));
    } else {
      add_layer(result, std::move(layer));
    }
  }
  result.views = static_cast<std::int64_t>(workload.skipped.size());
  result.notes.push_back(
      fmt::format("in this mode only Conv, MatMul and Gemm cost something, in 8 bits: {} other nodes are free",
                  workload.skipped.size()));
  return result;
}

}  // namespace monet
