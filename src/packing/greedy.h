// Packings without search.
#pragma once

#include "packing/problem.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace monet::packing {

struct Offsets {
  std::vector<std::int64_t> offset;  // by buffer
  std::int64_t peak = 0;
};

// Again and again the buffer that can lie lowest on those below it, the first in `order` among equals. Nothing when the
// peak would not be below `limit`, or the steps (queries in logarithmic time, taken off `steps`) run out.
std::optional<Offsets> pack_lowest_first(const Problem& problem, std::span<const std::int32_t> order,
                                         std::int64_t limit, std::int64_t& steps);

// As an allocator at run time would, that knows nothing of the future: the tightest gap. O(n log n).
Offsets pack_in_time(const Problem& problem);

}  // namespace monet::packing
