// Writes a Hardware as a file of our own format (docs/hardware.md).
#pragma once

#include "hardware/hardware.h"

#include <string>

namespace monet {

// Reading the text gives the same machine: every value is stated, with all its digits, and nothing is left to be
// derived. Equal cores of one type, numbered from 0, are written once. Memories keep their names; where the values came
// from (`origins`) and parameters are not written.
// Requires: at most one array and one vector unit in a core.
std::string to_yaml(const Hardware& hardware);

}  // namespace monet
