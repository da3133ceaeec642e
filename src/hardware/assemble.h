// From prototypes to parts: repeated, named, joined.
#pragma once

#include "hardware/check.h"
#include "hardware/prototypes.h"

namespace monet {

// Adds the parts of `machine` to `hardware`, with their places.
Status assemble(const ClusterPrototype& machine, Hardware& hardware, HardwarePlaces& places);

}  // namespace monet
