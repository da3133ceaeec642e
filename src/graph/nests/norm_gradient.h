// The nests of the gradients of normalizations.
#pragma once

#include "graph/nests.h"

namespace monet {

OperatorNests norm_gradient_nests(const OperatorSite& site);

// The group of the channel that loop 1 counts.
AxisIndex at_group(std::int64_t channels, std::int64_t groups);

}  // namespace monet
