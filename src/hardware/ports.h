// Which port of a memory carries which data of a core.
#pragma once

#include "hardware/prototypes.h"

namespace monet {

// Fills in level.port. `moves`: what the file states for each port, null: whatever fits its kind. A transfer that
// several ports could carry goes to the one that states it, else to the first.
Status assign_ports(const Memory& memory, const std::vector<const Yaml*>& moves,
                    const std::array<bool, path_count>& paths, bool own, Level& level);

}  // namespace monet
