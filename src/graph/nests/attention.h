// The nests of attention and of its gradient, each as one fused kernel.
#pragma once

#include "graph/nests.h"

namespace monet {

OperatorNests attention_nests(const OperatorSite& site);
OperatorNests attention_grad_nests(const OperatorSite& site);

}  // namespace monet
