// The gradient of Resize.
#pragma once

#include "graph/expand.h"

namespace monet {

void resize_grad(Expansion& e);

}  // namespace monet
