// How many bits can pass between memories and cores in a cycle, at most.
#pragma once

#include "hardware/hardware.h"

#include <set>

namespace monet {

struct Width {
  double in = 0, out = 0, all = 0;  // bits in a cycle: towards the memories, from them, both together
};

// Of all ports of the memories.
Width port_width(const Hardware& hardware, const std::set<MemoryId>& memories);

// Of the links out of the memories; nothing where a core has one of them without a link.
Width link_width(const Hardware& hardware, const std::set<MemoryId>& memories);

}  // namespace monet
