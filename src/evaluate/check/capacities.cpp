#include "evaluate/check/rules.h"

#include <algorithm>

namespace monet::check {

namespace {

struct Change {
  double time = 0;
  std::int64_t bytes = 0;
};

// All instances of a memory that belongs to one core; a memory that several levels name is one.
std::vector<std::int64_t> capacities(const Hardware& hardware) {
  std::vector<std::int64_t> bytes;
  for (const Memory& memory : hardware.memories) bytes.push_back(memory.size_bits / 8);
  for (const Core& core : hardware.cores) {
    for (const Level& level : core.levels) {
      const std::int64_t all = instances(core, level) * (hardware[level.memory].size_bits / 8);
      bytes[level.memory.index()] = std::max(bytes[level.memory.index()], all);
    }
  }
  return bytes;
}

}  // namespace

void check_capacities(const CheckContext& context) {
  const Schedule& schedule = context.schedule;
  std::vector<std::vector<Change>> changes(context.hardware.memories.size());
  const auto add = [&](MemoryId memory, double start, double end, std::int64_t bytes, const auto& name) {
    if (!context.not_after(end, schedule.cycles)) {
      context.findings.add("{} stays in {} until {}, after the end of the step at {}", name(), context.name(memory),
                           end, schedule.cycles);
    }
    // Times that count as equal leave no time in which both are there.
    changes[memory.index()].push_back({start, bytes});
    changes[memory.index()].push_back({std::max(start, end - context.tolerance), -bytes});
  };
  for (const Stay& stay : schedule.stays) {
    add(stay.memory, stay.start, stay.end, stay.bytes,
        [&] { return stay.buffer.valid() ? context.name(stay.buffer) : "workspace of " + context.name(stay.tile); });
  }
  for (const TensorStay& stay : schedule.home) {
    add(stay.memory, stay.start, stay.end, stay.bytes, [&] { return context.graph[stay.tensor].name; });
  }
  const std::vector<std::int64_t> capacity = capacities(context.hardware);
  for (std::size_t m = 0; m < changes.size(); ++m) {
    if (std::ranges::find(context.options.too_small, MemoryId(m)) != context.options.too_small.end()) continue;
    std::ranges::sort(changes[m], {}, [](const Change& change) { return std::pair(change.time, change.bytes); });
    std::int64_t bytes = 0;
    for (const Change& change : changes[m]) {
      bytes += change.bytes;
      if (bytes <= capacity[m]) continue;
      context.findings.add("{} holds {} bytes at {} and has room for {}", context.name(MemoryId(m)), bytes, change.time,
                           capacity[m]);
      break;
    }
  }
}

}  // namespace monet::check
