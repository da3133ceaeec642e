// How a result came about and how far it can be trusted, in its headline.
#pragma once

#include <monet/reach.h>

#include <string>

namespace monet {

// "eager kernels; mean errors: latency 5.0 %, energy 9.4 %, peak memory 1.6 % (116 steps …)", "eager kernels by laws
// from a data sheet; nothing was compared". Empty: an older result does not say how it came about.
std::string reach_text(const Reach& reach);

}  // namespace monet
