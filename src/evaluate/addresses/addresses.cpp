#include "evaluate/addresses/addresses.h"

#include "base/stop.h"
#include "packing/check.h"
#include "packing/packing.h"

#include <algorithm>

namespace monet {

namespace {

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

Expected<PackedStays> pack_stays(const ScheduledStep& step, const RoutedMachine& machine, MemoryId only,
                                 const std::function<bool()>& stop) {
  const Schedule& schedule = step.schedule;
  PackedStays packed;
  packed.home.assign(schedule.home.size(), -1);
  packed.stays.assign(schedule.stays.size(), -1);
  packed.peak_bytes.assign(step.hardware.memories.size(), 0);
  const std::vector<double> times = moments(schedule);
  const auto at = [&](double time) { return std::ranges::lower_bound(times, time) - times.begin(); };
  std::vector<MemoryLife> lives(step.hardware.memories.size());
  const auto add = [&](MemoryId memory, double start, double end, std::int64_t bytes, bool home, std::size_t index) {
    if (only.valid() && memory != only) return;
    MemoryLife& life = lives[memory.index()];
    const std::int64_t aligned = (bytes + address_alignment - 1) / address_alignment * address_alignment;
    life.items.push_back({.lower = at(start), .upper = at(end), .size = aligned, .alignment = address_alignment});
    life.from.emplace_back(home, index);
  };
  for (std::size_t i = 0; i < schedule.home.size(); ++i) {
    const TensorStay& stay = schedule.home[i];
    add(stay.memory, stay.start, stay.end, stay.bytes, true, i);
  }
  for (std::size_t i = 0; i < schedule.stays.size(); ++i) {
    const Stay& stay = schedule.stays[i];
    if (machine.is_shared(stay.memory) || machine.lives_in_storage())
      add(stay.memory, stay.start, stay.end, stay.bytes, false, i);
  }
  for (std::size_t m = 0; m < lives.size(); ++m) {
    MemoryLife& life = lives[m];
    if (life.items.empty()) continue;
    if (stop && stop()) return stopped_error();
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

}  // namespace monet
