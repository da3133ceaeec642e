// A machine as a picture.
#pragma once

#include "hardware/hardware.h"

#include <string>

namespace monet {

// The system as SVG: chips with their cores and memories, what joins them, and what lies outside. Equal cores beyond a
// few are drawn once in full and as small squares otherwise. Equal machines give equal pictures.
std::string draw(const Hardware& hardware);

}  // namespace monet
