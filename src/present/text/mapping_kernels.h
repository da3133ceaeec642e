// Launches of a kernel core as a table.
#pragma once

#include <monet/map.h>
#include <monet/text.h>

namespace monet {

// Requires: every layer has its kernel.
Text kernel_table(const NetworkMapping& mapping);

}  // namespace monet
