// Addresses for what a schedule keeps in memories.
#pragma once

#include "evaluate/account/step.h"
#include "evaluate/machine/machine.h"
#include "evaluate/schedule/room.h"

#include <monet/expected.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace monet {

struct PackedStays {
  std::vector<std::int64_t> home;        // by Schedule::home; -1: not packed
  std::vector<std::int64_t> stays;       // by Schedule::stays; -1: not packed
  std::vector<std::int64_t> peak_bytes;  // by memory; 0: not packed
};

// Addresses for the tensors in home memories and storage, and for the buffers in memories that several cores share;
// where data are at home in storage, for those in every memory. `only`: this memory alone. `stop`, which may be empty,
// is asked before each memory; true: fails. Fails (a defect) when the packing does not pass its own check.
Expected<PackedStays> pack_stays(const ScheduledStep& step, const RoutedMachine& machine, MemoryId only = {},
                                 const std::function<bool()>& stop = {});

}  // namespace monet
