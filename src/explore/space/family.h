// The family of machines that a space is over, and whether it has what the space says.
#pragma once

#include "config/parameters.h"
#include "explore/space/axes.h"
#include "explore/space/space.h"
#include "hardware/hardware.h"

#include <utility>
#include <vector>

namespace monet::explore {

// The machine with these values of its parameters.
Expected<Hardware> machine_of(const Space& space, const std::vector<std::pair<std::string, std::string>>& parameters);

// What a constraint may speak of beside parameters, and what it measures: area, static_power, macs (in a cycle),
// on_chip (bits of registers and SRAM) and peak (operations a second, a MAC counting two).
struct MachineFact {
  std::string name;
  Dimension dimension;
};
const std::vector<MachineFact>& machine_facts();

// Fails where the hardware cannot be read with its own values, has no such parameter, or has it in another unit; where
// a value can never be; and where a constraint speaks of what there is not. Opens the files that the space names.
Status check_family(const Space& space, const ParameterTable& table);

}  // namespace monet::explore
