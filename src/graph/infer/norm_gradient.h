// Types of the gradients of normalizations.
#pragma once

#include "graph/infer.h"

namespace monet {

Expected<Types> infer_norm_gradient(const OperatorTypes& operation);

}  // namespace monet
