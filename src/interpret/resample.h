// Resize and GridSample: weighted sums of neighbours.
#pragma once

#include "interpret/interpret.h"

namespace monet {

Array execute_resize(const Execution& execution);
Array execute_grid_sample(const Execution& execution);

}  // namespace monet
