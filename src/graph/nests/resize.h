// The nests of Resize, its gradient and GridSample: each point of the output reads a few neighbours of the input.
#pragma once

#include "graph/nests.h"

namespace monet {

OperatorNests resize_nests(const OperatorSite& site);
OperatorNests resize_gradient_nests(const OperatorSite& site);
OperatorNests grid_sample_nests(const OperatorSite& site);

}  // namespace monet
