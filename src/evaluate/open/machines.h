// Hardware as something to read: collected into plain numbers.
#pragma once

#include "hardware/hardware.h"

#include <monet/hardware.h>

namespace monet {

HardwareReport summarize(const Hardware& hardware);

}  // namespace monet
