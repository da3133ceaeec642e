// Which machines a space leaves out.
#pragma once

#include "explore/space/space.h"
#include "hardware/hardware.h"
#include "hardware/totals.h"

#include <monet/expected.h>

#include <optional>
#include <string>

namespace monet::explore {

// The first constraint that a machine breaks: "x * y <= 32". Fails where an expression cannot be computed for it: a
// name that is neither a parameter nor `area`, `static_power`, `macs`, `on_chip`, `peak`; units that do not go
// together.
Expected<std::optional<std::string>> broken_constraint(const Space& space, const Hardware& hardware,
                                                       const MachineTotals& totals);

}  // namespace monet::explore
