// Pieces of loops that an order arranges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace monet {

struct Factor {
  std::uint8_t loop = 0;
  std::int64_t size = 1;
  bool operator==(const Factor&) const = default;
};

// Splits each loop of so many iterations into prime factors, then joins the two smallest of the loop that has most
// until there are at most `limit` (but one for each loop). A number with a prime factor above 7 is split like the next
// one that has none: its last piece is ragged, and costed as such. Loops of one iteration give nothing. Sorted by loop,
// then by size. Pieces in `given` are there as they are; what is left of their loops is split.
std::vector<Factor> factors_of(std::span<const std::int64_t> iterations, std::size_t limit,
                               std::span<const Factor> given = {});

}  // namespace monet
