// The precision in which a unit works on a problem.
#pragma once

#include "mapping/problem.h"

#include <span>
#include <string>
#include <string_view>

namespace monet {

// Bits of an element: the first number in the name ("bf16", "int8", "mxfp8", "fp8_e4m3"); 0: there is none.
std::int64_t bits_of_precision(std::string_view name);

// The entry for a precision: "fp8" is one for fp8e4m3 and fp8e5m2 too. Where there is none, the narrowest of those that
// are at least as wide, of the same kind if there is one (floating point; integers; for mxfp8 the other mxfp, then
// floating point; for mxint8 the other mxint, then integers; for mx9 the other mx, then mxint and mxfp), or else the
// widest. Null: the list is empty.
const PrecisionRate* nearest_precision(std::span<const PrecisionRate> precisions, std::string_view name);

// In the note of adapt() on a product that cannot run on the unit as it is: operands that share no scales, on an array
// that has blocks alone.
inline constexpr std::string_view costed_as_converted =
    "cannot run there as it is, and is costed as if they had been converted";

// The problem as the unit runs it. A precision that the unit does not list becomes the nearest (see above); where that
// is narrower, elements are costed at its width, and so are results of integers that are wider than the unit's sums.
// `note` says so of that, and of products in other numbers than theirs. Partial sums have the width that the unit
// states for them.
Problem adapt(const Problem& problem, const Unit& unit, std::string* note = nullptr);

}  // namespace monet
