// A mapped nest in words.
#pragma once

#include "mapping/operators.h"

#include <monet/map.h>

namespace monet {

// `unit` is null for a core that is described by rates.
MappedNest mapped_nest(const NestCost& nest, const Unit* unit);

}  // namespace monet
