#include "report/evaluation_memory.h"

#include "base/try.h"
#include "evaluate/check/packing.h"
#include "evaluate/packing/packing.h"
#include "evaluate/plan/hash.h"
#include "evaluate/plan/writer.h"
#include "report/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

// Byte addresses that memories hand out.
constexpr std::int64_t alignment = 64;

// One memory's lifetimes, as whole numbers in the order of time.
struct MemoryLife {
  std::vector<PackItem> items;
  std::vector<std::pair<bool, std::size_t>> from;  // at home, and which
};

std::vector<double> moments(const Schedule& schedule) {
  std::vector<double> times;
  times.reserve(2 * (schedule.home.size() + schedule.stays.size()));
  for (const TensorStay& stay : schedule.home) times.insert(times.end(), {stay.start, stay.end});
  for (const Stay& stay : schedule.stays) times.insert(times.end(), {stay.start, stay.end});
  std::ranges::sort(times);
  times.erase(std::ranges::unique(times).begin(), times.end());
  return times;
}

}  // namespace

Expected<PackedStays> pack_stays(const ScheduledStep& step, const Machine& machine) {
  const Schedule& schedule = step.schedule;
  PackedStays packed;
  packed.home.assign(schedule.home.size(), -1);
  packed.stays.assign(schedule.stays.size(), -1);
  packed.peak_bytes.assign(step.hardware.memories.size(), 0);
  const std::vector<double> times = moments(schedule);
  const auto at = [&](double time) { return std::ranges::lower_bound(times, time) - times.begin(); };
  std::vector<MemoryLife> lives(step.hardware.memories.size());
  const auto add = [&](MemoryId memory, double start, double end, std::int64_t bytes, bool home, std::size_t index) {
    MemoryLife& life = lives[memory.index()];
    const std::int64_t aligned = (bytes + alignment - 1) / alignment * alignment;
    life.items.push_back({.lower = at(start), .upper = at(end), .size = aligned, .alignment = alignment});
    life.from.emplace_back(home, index);
  };
  for (std::size_t i = 0; i < schedule.home.size(); ++i) {
    const TensorStay& stay = schedule.home[i];
    add(stay.memory, stay.start, stay.end, stay.bytes, true, i);
  }
  for (std::size_t i = 0; i < schedule.stays.size(); ++i) {
    const Stay& stay = schedule.stays[i];
    if (machine.is_shared(stay.memory)) add(stay.memory, stay.start, stay.end, stay.bytes, false, i);
  }
  for (std::size_t m = 0; m < lives.size(); ++m) {
    MemoryLife& life = lives[m];
    if (life.items.empty()) continue;
    const PackResult result = pack(life.items, {.effort = 0.1});
    if (const std::string fault = check_packing(life.items, result.offsets, result.peak); !fault.empty()) {
      return Error{.kind = ErrorKind::defect, .message = fault, .place = step.hardware.memories[m].name};
    }
    packed.peak_bytes[m] = result.peak;
    for (std::size_t i = 0; i < life.items.size(); ++i) {
      (life.from[i].first ? packed.home : packed.stays)[life.from[i].second] = result.offsets[i];
    }
  }
  return packed;
}

std::vector<MemoryId> judge_fit(Evaluation& evaluation, const Hardware& hardware, const Machine& machine) {
  std::vector<MemoryId> too_small;
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    const auto memory = std::ranges::find(evaluation.memories, hardware.memories[m].name, &MemoryResult::name);
    if (memory == evaluation.memories.end()) continue;
    // The memories of cores are never filled above what they hold.
    if (!machine.is_home(MemoryId(m)) && hardware.memories[m].kind != MemoryKind::storage) continue;
    const std::int64_t capacity = machine.capacity_bytes(MemoryId(m));
    const std::int64_t peak = std::max(memory->live_peak_bytes, memory->packed_peak_bytes);
    if (peak <= capacity) continue;
    evaluation.fits = false;
    too_small.push_back(MemoryId(m));
    evaluation.does_not_fit +=
        fmt::format("{}{} is too small by {}: {} are needed, it has {}", evaluation.does_not_fit.empty() ? "" : "; ",
                    memory->name, byte_size(peak - capacity), byte_size(peak), byte_size(capacity));
  }
  return too_small;
}

Plan plan_as_carried_out(const ScheduledStep& step, const Plan& plan, const Graph& original) {
  Plan result;
  result.graph_hash = hash_of(original);
  result.hardware_hash = hash_of(step.hardware);
  result.order = plan.order;
  result.transfers = plan.transfers;
  result.tensors = plan.tensors;
  for (const std::vector<NodeId>& nodes : step.assignment.stacks) {
    if (nodes.size() < 2) continue;
    PlannedStack& stack = result.stacks.emplace_back();
    for (NodeId node : nodes) stack.operators.push_back(step.graph[node].name);
  }
  for (std::size_t n = 0; n < step.graph.nodes().size(); ++n) {
    const OperatorAssignment& assigned = step.assignment.operators[n];
    if (assigned.cores.empty()) continue;
    PlannedOperator& op = result.operators.emplace_back();
    op.name = step.graph.nodes()[n].name;
    for (const LoopCut& cut : assigned.cuts) {
      if (cut.pieces > 1) op.split.push_back({cut.loop, cut.pieces});
      if (cut.tile > 0) op.tile.push_back({cut.loop, cut.tile});
    }
    for (CoreId core : assigned.cores) op.cores.push_back(step.hardware[core].name);
    if (assigned.priority != 0) op.priority = assigned.priority;
  }
  return result;
}

}  // namespace monet
