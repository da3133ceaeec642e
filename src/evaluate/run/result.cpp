#include "evaluate/run/result.h"

#include "evaluate/account/causes.h"
#include "evaluate/account/cores.h"
#include "evaluate/account/critical_path.h"
#include "evaluate/account/energy.h"
#include "evaluate/account/operators.h"
#include "evaluate/account/owners.h"
#include "evaluate/account/phases.h"
#include "evaluate/account/traffic.h"
#include "evaluate/run/machine_facts.h"
#include "graph/custom.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

void fill_energy(Evaluation& evaluation, const ScheduledStep& step, const Energy& energy) {
  evaluation.energy_pj = energy.total;
  const auto add = [&](std::string name, double pj) {
    if (pj != 0) evaluation.energy.emplace_back(std::move(name), pj);
  };
  for (const auto& [precision, pj] : energy.compute) {
    add(precision.empty() ? "compute" : fmt::format("compute {}", precision), pj);
  }
  for (std::size_t i = 0; i < energy.memory.size(); ++i) {
    add(fmt::format("memory {}", step.hardware.memories[i].name), energy.memory[i]);
  }
  for (std::size_t i = 0; i < energy.link.size(); ++i) {
    add(fmt::format("link {}", step.hardware.links[i].name), energy.link[i]);
  }
  add("network", energy.network);
  add("static", energy.static_pj);
}

// All parts, also those that are 0.
template <class Cause, std::size_t count>
Parts parts_of(const std::array<double, count>& causes) {
  Parts parts;
  for (std::size_t i = 0; i < count; ++i) parts.emplace_back(name_of(static_cast<Cause>(i)), causes[i]);
  return parts;
}

std::vector<std::string> cores_of(const Hardware& hardware, const OperatorAssignment& assignment) {
  std::vector<std::string> names;
  std::vector<bool> seen(hardware.cores.size(), false);
  for (const CoreId core : assignment.cores) {
    if (!seen[core.index()]) names.push_back(hardware[core].name);
    seen[core.index()] = true;
  }
  return names;
}

OperatorResult operator_result(const ScheduledStep& step, std::size_t index, const OperatorBreakdown& breakdown) {
  const Node& node = step.graph.nodes()[index];
  const OperatorAssignment& assignment = step.assignment.operators[index];
  OperatorResult row;
  row.name = node.name;
  row.op = operator_type(node);
  row.phase = name_of(node.phase);
  row.stack = fmt::format("{}", assignment.stack);
  row.cores = cores_of(step.hardware, assignment);
  row.tiles = breakdown.tiles;
  row.macs = breakdown.macs;
  row.start = breakdown.start;
  row.end = breakdown.end;
  row.busy_cycles = breakdown.busy.cycles;
  row.compute_cycles = breakdown.busy.compute;
  row.stall_cycles = breakdown.busy.stall;
  row.load_cycles = breakdown.busy.load;
  row.fill_cycles = breakdown.busy.fill;
  row.slowed_cycles = breakdown.busy.slowed;
  row.wait_cycles = breakdown.wait_cycles;
  row.energy_pj = breakdown.energy_pj();
  row.compute_pj = breakdown.compute_pj;
  row.memory_pj = breakdown.memory_pj;
  row.network_pj = breakdown.network_pj;
  row.transfer_pj = breakdown.transfer_pj;
  row.home_read_bytes = breakdown.home_read_bytes;
  row.home_write_bytes = breakdown.home_write_bytes;
  row.recomputed = node.recomputed;
  row.precision = step.schedule.costs[breakdown.cost].precision;
  row.converted = step.schedule.costs[breakdown.cost].converted;
  return row;
}

void fill_operators(Evaluation& evaluation, const ScheduledStep& step, std::span<const OperatorBreakdown> operators,
                    std::span<const OperatorBound> bounds) {
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].tiles == 0) continue;
    OperatorResult& row = evaluation.operators.emplace_back(operator_result(step, i, operators[i]));
    // Of its tiles, with what they stream; or what no way of running it goes below.
    row.bound_cycles = std::max(operators[i].bound_cycles, i < bounds.size() ? bounds[i].core_cycles : 0);
    evaluation.macs += operators[i].macs;
  }
}

void fill_resources(Evaluation& evaluation, const ScheduledStep& step, std::span<const CoreUse> cores,
                    std::span<const ChannelBreakdown> channels) {
  const double cycles = step.schedule.cycles;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const CoreUse& use = cores[i];
    ResourceResult& row = evaluation.resources.emplace_back();
    row.name = step.hardware.cores[i].name;
    row.kind = "core";
    row.type = step.hardware.cores[i].type;
    row.busy_cycles = use.busy.cycles;
    row.compute_cycles = use.busy.compute;
    row.load_cycles = use.busy.load;
    row.fill_cycles = use.busy.fill;
    row.slowed_cycles = use.busy.slowed;
    row.stall_cycles = row.busy_cycles - row.compute_cycles - row.load_cycles - row.fill_cycles - row.slowed_cycles;
    for (std::size_t cause = 0; cause < idle_causes; ++cause) {
      row.idle_cycles += use.idle[cause];
      if (use.idle[cause] > 0) row.idle_by.emplace_back(name_of(static_cast<Idle>(cause)), use.idle[cause]);
    }
    row.energy_pj = use.compute_pj;
    row.utilization = cycles > 0 ? row.busy_cycles / cycles : 0;
  }
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const Channel& channel = step.schedule.channels[i];
    ResourceResult& row = evaluation.resources.emplace_back();
    row.name = channel.name;
    row.kind = !channel.link.valid() ? "port" : step.hardware[channel.link].kind == LinkKind::bus ? "bus" : "link";
    row.busy_cycles = channels[i].busy_cycles;
    row.idle_cycles = cycles - row.busy_cycles;
    row.bytes = channels[i].bytes;
    row.energy_pj = channels[i].energy_pj;
    row.utilization = cycles > 0 ? row.busy_cycles / cycles : 0;
  }
}

void fill_phases(Evaluation& evaluation, const std::array<PhaseBreakdown, phase_count>& phases) {
  for (std::size_t i = 0; i < phase_count; ++i) {
    const PhaseBreakdown& breakdown = phases[i];
    if (breakdown.busy_cycles == 0 && breakdown.latency_cycles == 0 && i > 0) continue;
    evaluation.phases.push_back({.phase = std::string(name_of(static_cast<Phase>(i))),
                                 .start = breakdown.start,
                                 .end = breakdown.end,
                                 .busy_cycles = breakdown.busy_cycles,
                                 .latency_cycles = breakdown.latency_cycles,
                                 .energy_pj = breakdown.energy_pj,
                                 .macs = breakdown.macs});
  }
}

CriticalStep critical_step(const ScheduledStep& step, const PathStep& part) {
  CriticalStep result{.name = part.node.valid() ? step.graph[part.node].name : "",
                      .kind = part.what == PathStep::What::room ? "room" : "wait",
                      .start = part.start,
                      .end = part.end};
  if (part.what == PathStep::What::tile) result.kind = "compute";
  if (part.what == PathStep::What::transfer) {
    const ScheduledTransfer& transfer = step.schedule.transfers[part.index];
    result.kind = "transfer";
    result.name = name_of(time_of(transfer.kind));
    if (transfer.buffer.valid()) {
      result.name += " " + step.graph[step.tiles.buffers[transfer.buffer.index()].tensor].name;
    }
  }
  return result;
}

// Of a part of the path that runs a tile: the cycles in which its units do not work.
double stalled_cycles(const ScheduledStep& step, const PathStep& part) {
  if (part.what != PathStep::What::tile) return 0;
  const ScheduledTile& tile = step.schedule.tiles[part.index];
  const double cycles = part.end - part.start;
  const double share = length(tile) > 0 ? cycles / length(tile) : 0;
  return std::clamp(cycles - share * step.schedule.costs[tile.cost].compute_cycles, 0.0, cycles);
}

// Neighbours of the same name and kind, such as the tiles of one operator, become one step; what of these is no
// computing is a step of its own behind it.
void fill_critical_path(Evaluation& evaluation, const ScheduledStep& step, const CriticalPath& path) {
  std::vector<CriticalStep>& steps = evaluation.critical_path;
  double stalled = 0;  // of the last step
  const auto split_last = [&] {
    if (stalled <= 0) return;
    CriticalStep stall = steps.back();
    stall.kind = "stall";
    stall.start = steps.back().end = std::max(stall.start, stall.end - stalled);
    if (steps.back().end <= steps.back().start) steps.pop_back();
    steps.push_back(std::move(stall));
    stalled = 0;
  };
  for (const PathStep& part : path.steps) {
    if (part.end <= part.start) continue;
    CriticalStep next = critical_step(step, part);
    if (!steps.empty() && steps.back().name == next.name && steps.back().kind == next.kind) {
      steps.back().end = next.end;
    } else {
      split_last();
      steps.push_back(std::move(next));
    }
    stalled += stalled_cycles(step, part);
  }
  split_last();
  for (std::size_t i = 0; i < path_times; ++i) {
    if (path.cycles[i] != 0)
      evaluation.critical_by_kind.emplace_back(name_of(static_cast<PathTime>(i)), path.cycles[i]);
  }
}

// The part of the makespan in which the MACs would be done with every lane of the machine at work.
double utilization(const ScheduledStep& step) {
  double cycles = 0;
  for (const auto& [precision, sum] : macs_by_precision(step.schedule)) {
    const double rate = macs_per_cycle(step.hardware, precision);
    if (rate > 0) cycles += sum / rate;
  }
  return step.schedule.cycles > 0 ? cycles / step.schedule.cycles : 0;
}

}  // namespace

std::vector<std::int64_t> operator_rows(const ScheduledStep& step) {
  std::vector<std::int64_t> rows(step.graph.nodes().size(), -1);
  for (std::size_t i = 0; i < step.schedule.tiles.size(); ++i) rows[step.tiles.node[i].index()] = 0;
  std::int64_t next = 0;
  for (std::int64_t& row : rows) {
    if (row == 0) row = next++;
  }
  return rows;
}

void fill(Evaluation& evaluation, const ScheduledStep& step, std::span<const OperatorBound> bounds,
          const FillOptions& options) {
  const Schedule& schedule = step.schedule;
  evaluation.clock_hz = step.hardware.clock_hz;
  evaluation.latency_cycles = schedule.cycles;
  evaluation.latency_s = schedule.cycles / step.hardware.clock_hz;
  evaluation.nodes = static_cast<std::int64_t>(step.graph.nodes().size());
  evaluation.stacks = static_cast<std::int64_t>(step.assignment.stacks.size());
  evaluation.tiles = static_cast<std::int64_t>(schedule.tiles.size());
  evaluation.transfers = static_cast<std::int64_t>(schedule.transfers.size());
  evaluation.utilization = utilization(step);

  const Energy energy = energy_of(step.hardware, schedule);
  const std::vector<double> gaps = gaps_before(step);
  const std::vector<NodeId> owners = owners_of(step);
  const std::vector<OperatorBreakdown> operators = operator_breakdowns(step, gaps, owners);
  const CriticalPath path = critical_path(step, owners);
  const Bounds bound = bounds_of(step, bounds);
  fill_energy(evaluation, step, energy);
  evaluation.latency_by = parts_of<LatencyCause>(latency_by_cause(step, path));
  evaluation.energy_by = parts_of<EnergyCause>(energy_by_cause(step, energy, operators, owners));
  evaluation.machine = machine_facts(step);
  fill_operators(evaluation, step, operators, bounds);
  fill_phases(evaluation, phase_breakdowns(step, operators, path, energy.static_pj, energy.total));
  fill_resources(evaluation, step, core_use(step, gaps), traffic_of(step).channels);
  fill_critical_path(evaluation, step, path);
  evaluation.bound_cycles = bound.cycles;
  evaluation.bound_pj = bound.pj;
  evaluation.bound_by = bound.by;
  fill_memories(evaluation, step, options);
  if (options.trace) fill_trace(evaluation, step, path);
  if (options.lifetimes) fill_lifetimes(evaluation, step, options.packed);
}

}  // namespace monet
