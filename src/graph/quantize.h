// Values of a tensor rounded to what a format can hold.
#pragma once

#include "graph/format.h"
#include "graph/number.h"

#include <span>
#include <vector>

namespace monet {

struct QuantizeOptions {
  Rounding rounding = Rounding::nearest;
  std::uint64_t seed = 0;  // of stochastic rounding: element i uses a chance that depends on seed and i alone
};

// Rounds `values`, a row-major tensor of that shape, in place. Scales come from the values:
// - power-of-two scales (e8m0) by OCP's rule, 2^(floor(log2 max|v|) - emax), kept within 2^-127 … 2^127; a group of
//   zeros has the smallest scale. Integer elements count as fixed point with emax 0: 8 bits are steps of 2^-6,
//   symmetric (the code -128 is not used);
// - with a second level (microexponents) the scale is that of the group, and a subgroup whose largest exponent is below
//   the group's is shifted by the difference, up to 2^subscale_bits - 1 (ISCA 2023, shared microexponents);
// - floating-point scales are max|v| / largest_number(element), rounded to the scale's type; where that gives zero the
//   group becomes zeros. A tensor scale (NVFP4) is max|v| over the tensor / (largest element · largest scale), rounded
//   to float32, and scales count in it.
// A group at an edge of the tensor has the elements that are there; a scalar is a group. A group that holds something
// that is not a number is not a number as a whole; an infinite value is one beyond the largest.
// Plain formats: rounded() for each, also of integers; overflow is infinite in floating-point types of 16 bits and
// more. `scales`, where asked for, receives what the elements of each group are multiplied by (without microexponents
// and the unit of fixed point), in the order of the groups (row-major over groups); nothing for plain formats. Cost:
// linear, a few nanoseconds a value.
void quantize(std::span<double> values, const Shape& shape, const Format& format, const QuantizeOptions& options = {},
              std::vector<double>* scales = nullptr);

}  // namespace monet
