// Budgets as the command line writes them.
#pragma once

#include "evaluate/machine/machine.h"
#include "hardware/hardware.h"

#include <monet/expected.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monet {

// "1048576" or "1MiB". `option` is where it stands, for messages.
Expected<std::int64_t> bytes_from(const std::string& text, const std::string& option);

struct MemoryBudget {
  MemoryId memory;         // not valid: not named
  std::int64_t bytes = 0;  // or
  double share = 0;        // of what the step needs without one; 0: in bytes
};

// "2MiB", "sram=2MiB", "80%".
Expected<MemoryBudget> memory_budget_from(const std::string& text, const Hardware& hardware);

// "1.5x" of `base` cycles, "20ms", "3e6 cycles".
Expected<double> deadline_from(const std::string& text, double base, double clock_hz);

// What all `--memory-budget`s come to.
struct Budgets {
  MemoryId memory;                   // the home memory that is meant; where none is named, the first
  std::int64_t capacity_bytes = 0;   // of that memory
  std::optional<MemoryBudget> home;  // for it; nothing: not given
  Hardware hardware;                 // the machine; a budget for the memory of a core is a smaller memory
  std::vector<std::string> notes;

  // In bytes, where the step needs `without` bytes without a budget; what it holds where none is given.
  std::int64_t bytes(std::int64_t without) const;
  // Where a budget is more than the memory holds.
  std::vector<std::string> warnings(std::int64_t budget_bytes) const;
};
Expected<Budgets> budgets_from(const std::vector<std::string>& texts, Hardware hardware);

}  // namespace monet
