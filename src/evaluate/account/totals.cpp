#include "evaluate/account/totals.h"

#include "evaluate/account/energy.h"

namespace monet {

Totals totals(const Hardware& hardware, const Schedule& schedule) {
  return {.cycles = schedule.cycles,
          .energy_pj = energy_of(hardware, schedule).total,
          .live_peak_bytes = live_peaks(hardware.memories.size(), schedule)};
}

}  // namespace monet
