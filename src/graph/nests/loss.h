// Nests of the losses, for softmax.cpp.
#pragma once

#include "graph/nests.h"

namespace monet {

// Losses over classes.
OperatorNests class_loss_nests(const OperatorSite& site);
OperatorNests class_loss_gradient_nests(const OperatorSite& site);

// Losses that compare each value with its target.
OperatorNests pair_loss_nests(const OperatorSite& site);
OperatorNests pair_loss_gradient_nests(const OperatorSite& site);

}  // namespace monet
