// Codes of an element type and the numbers that they stand for, bit by bit.
//
// A floating-point type with `m` bits of mantissa and bias b: code (sign, e, f) is ±2^(e-b) (1 + f/2^m), and for e = 0
// ±2^(1-b) f/2^m (subnormal); Specials says what the largest exponent is. An integer type is in two's complement.
// Conversions round to the nearest, ties to the even code (float8e8m0: to the larger), or at random (below); what is
// beyond the largest number becomes it (saturates), as OCP's MX specification v1.0, 6.3, and its 8-bit formats'
// saturating mode have it.
#pragma once

#include "graph/format.h"

#include <cstdint>

namespace monet {

// What a floating-point type consists of. float8e8m0 has no sign, no mantissa and no zero.
struct FloatLayout {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int bias = 0;
  Specials specials = Specials::none;
  bool has_sign = true;
  // float8e4m3fnuz and float8e5m2fnuz: no negative zero, and its code is what is not a number.
  bool unsigned_zero = false;
};
// Requires is_floating(type) and not float64. tf32: 8 bits of exponent, 10 of mantissa.
FloatLayout layout_of(ElementType type);

enum class Rounding : std::uint8_t {
  nearest,     // ties to even
  stochastic,  // up with the probability of the part that is cut off
};

double largest_number(ElementType type);  // of integers too
// floor(log2(largest_number)): of floating-point types emax of OCP's rule for scales.
int largest_exponent(ElementType type);

// The nearest number that the type has; `chance` in [0, 1) decides a stochastic rounding. Not-a-number stays it where
// the type has one, and is the largest number where it has none; infinities stay only where the type has them and
// `saturate` is false.
double rounded(double value, ElementType type, Rounding rounding = Rounding::nearest, double chance = 0,
               bool saturate = true);
// The code of rounded(value), in the low bits. Requires a type of at most 32 bits, as decoded does.
std::uint32_t encoded(double value, ElementType type, bool saturate = true);
double decoded(std::uint32_t code, ElementType type);

}  // namespace monet
