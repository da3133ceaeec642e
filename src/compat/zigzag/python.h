// Numbers and orders as Python 3 has them: ZigZag's results depend on them in the last bit and in ties.
#pragma once

#include "graph/nests.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace monet::zigzag {

// round(x): halves to even. 0 <= x < 2^51.
inline double round_even(double x) {
  constexpr double shift = 4503599627370496.0;  // 2^52: no fraction fits beside it
  return (x + shift) - shift;
}

// int(x), |x| < 2^63.
inline double truncate(double x) { return static_cast<double>(static_cast<std::int64_t>(x)); }

// ceil(x), |x| < 2^63.
inline double ceiling(double x) {
  const double below = truncate(x);
  return below < x ? below + 1 : below;
}

// round(x, 3)
double round_thousandths(double x);

// The order in which a set of objects with these hashes is walked after they were added one after the other: indices.
std::vector<std::uint8_t> set_order(std::span<const std::uint64_t> hashes);

// Hashes of ZigZag's names of loops and of array dimensions (D0 to D9); others get hashes that keep them in order.
std::uint64_t loop_hash(Dim dim);
std::uint64_t dimension_hash(std::string_view name, std::size_t index);

}  // namespace monet::zigzag
