// Products whose rows do not start at multiples of 16 bytes, made so.
#pragma once

#include "kernels/law_values.h"
#include "kernels/lower/lowered_step.h"

namespace monet::compiling {

// Rounds up the sides of products whose strides no vector fits, where that takes less time by the laws, with the copies
// of operands that it needs (PyTorch's compiler tries both). The result is read out of a wider buffer then.
void pad_products(LoweredStep& step, const KernelLaws& laws);

}  // namespace monet::compiling
