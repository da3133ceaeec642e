// Laws of kernels as they follow from a data sheet: what stands where nothing was measured.
#pragma once

#include "hardware/hardware.h"
#include "kernels/law_values.h"

#include <monet/expected.h>

namespace monet {

// Of the core's own `kernels`; what those leave out, or a core without them, from peaks, gang and memories. Fails where
// these say too little.
Expected<KernelLaws> kernel_laws_of(const Hardware& hardware, const Core& core);

}  // namespace monet
