#include "evaluate/run/fit.h"

#include "base/quantities.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

std::vector<MemoryId> judge_fit(Evaluation& evaluation, const Hardware& hardware, const RoutedMachine& machine) {
  std::vector<MemoryId> too_small;
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    const auto memory = std::ranges::find(evaluation.memories, hardware.memories[m].name, &MemoryResult::name);
    if (memory == evaluation.memories.end()) continue;
    // The memories of cores are never filled above what they are taken to hold.
    if (!machine.is_backing(MemoryId(m)) && !machine.lives_in_storage()) continue;
    const std::int64_t capacity =
        machine.lives_in_storage() ? memory->capacity_bytes : machine.capacity_bytes(MemoryId(m));
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

}  // namespace monet
