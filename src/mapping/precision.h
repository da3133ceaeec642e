// The precision in which a unit works on a problem.
//
// A unit works in numbers that it has: those of the problem, or wider ones that hold each of them (bf16 in fp32, int8
// in bf16, mxfp8 in bf16). Narrower numbers come from a recipe alone, by the problem's own precision or its leeway.
#pragma once

#include "mapping/problem.h"

#include <span>
#include <string>
#include <string_view>

namespace monet {

// Bits of an element: the first number in the name ("bf16", "int8", "mxfp8", "fp8_e4m3"); 0: there is none.
std::int64_t bits_of_precision(std::string_view name);

// Whether each number of one precision is one of the other: "fp8" stands for fp8e4m3 and fp8e5m2. Numbers in blocks are
// those of their elements times a power of two.
bool holds(std::string_view given, std::string_view wanted);

// The entry that a unit with these works in, for numbers of that name: its own, or the narrowest that holds them. Null:
// there is none.
const PrecisionRate* precision_for(std::span<const PrecisionRate> precisions, std::string_view name);
// The same for a problem, with its leeway: of integers that only count, any; of products that a recipe has converted,
// the nearest blocks.
const PrecisionRate* precision_for(std::span<const PrecisionRate> precisions, const Problem& problem);

// A unit that names no precisions works in all.
bool has_precision(std::span<const PrecisionRate> precisions, const Problem& problem);

// A product that runs in blocks though its operands are none.
bool is_converted(const Problem& problem, std::string_view used);

// The problem as the unit runs it: its precision; partial sums of the width that the unit states for them; in registers
// operands have at most the width of what the unit works in. Elsewhere elements stay as wide as they are. `note` says
// of products in other numbers than theirs. Requires has_precision().
Problem adapt(const Problem& problem, const Unit& unit, std::string* note = nullptr);

}  // namespace monet
