// What no way of running an operator can go below.
#pragma once

#include "hardware/hardware.h"

#include <vector>

namespace monet {

struct OperatorBound {
  // No core that may run it takes less, nor do several together: computing at full use of all lanes, or moving each
  // element once through the widest memory that the core may have it in. Bringing data there may overlap other work.
  double core_cycles = 0;
  double pj = 0;              // computing: no memories, no transfers, nothing static
  std::vector<CoreId> cores;  // that may run it; none: a view
};

}  // namespace monet
