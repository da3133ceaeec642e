// Laws of kernels as they follow from a data sheet: what stands where nothing was measured.
#pragma once

#include "hardware/hardware.h"
#include "kernels/law_values.h"

#include <monet/expected.h>

namespace monet {

// Of the core's own `kernels`, or from peaks, clock and memories. Fails where those say too little.
Expected<KernelLaws> kernel_laws_of(const Hardware& hardware, const Core& core);

}  // namespace monet
