// Which machines a space leaves out.
#pragma once

#include "explore/space/space.h"
#include "hardware/hardware.h"
#include "hardware/totals.h"

#include <monet/expected.h>

#include <optional>
#include <string>

namespace monet::explore {

// Fails where the space judges machines by their area and a part of this one has none: what lacks an area is not free.
Status check_area(const Space& space, const MachineTotals& totals);

// The first constraint that a machine breaks: "x * y <= 32". Fails where an expression cannot be computed for it: a
// name that is neither a parameter nor `area`, `static_power`, `macs`, `on_chip`, `peak`; units that do not go
// together; or the area or static power of a machine of which a part has none.
Expected<std::optional<std::string>> broken_constraint(const Space& space, const Hardware& hardware,
                                                       const MachineTotals& totals);

}  // namespace monet::explore
