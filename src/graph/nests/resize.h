// The nests of Resize and GridSample: each point of the output reads a few neighbours of the input.
#pragma once

#include "graph/nests.h"

namespace monet {

OperatorNests resize_nests(const OperatorSite& site);
OperatorNests grid_sample_nests(const OperatorSite& site);

}  // namespace monet
