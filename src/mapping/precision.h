// The precision in which a unit works on a problem.
#pragma once

#include "mapping/problem.h"

#include <span>
#include <string>
#include <string_view>

namespace monet {

// Bits of an element: the first number in the name ("bf16", "int8", "mxfp8", "fp8_e4m3"); 0: there is none.
std::int64_t bits_of_precision(std::string_view name);

// The entry for a precision; where there is none, that of the narrowest wider one, or else of the widest. Null: the
// list is empty.
const PrecisionRate* nearest_precision(std::span<const PrecisionRate> precisions, std::string_view name);

// The problem as the unit runs it. A precision that the unit does not list becomes the nearest (see above); where that
// is narrower, elements are costed at its width: `note` then says so. Partial sums have the width that the
// unit states for them.
Problem adapt(const Problem& problem, const Unit& unit, std::string* note = nullptr);

}  // namespace monet
