// What no way of running an operator can go below.
#pragma once

#include "hardware/hardware.h"

#include <vector>

namespace monet {

struct OperatorBound {
  double core_cycles = 0;     // no core that may run it takes less, nor do several together
  double pj = 0;              // computing: no memories, no transfers, nothing static
  std::vector<CoreId> cores;  // that may run it; none: a view
};

}  // namespace monet
