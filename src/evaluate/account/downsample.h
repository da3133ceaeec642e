// A long curve of steps by fewer of its points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace monet {

// At most `most` (no fewer than 3) of the points, in order: the first, the last, and of each stretch between them the
// highest, so that the highest of all stays.
std::vector<std::size_t> thinned(std::span<const std::int64_t> heights, std::size_t most);

}  // namespace monet
