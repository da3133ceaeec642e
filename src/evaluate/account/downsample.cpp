#include "evaluate/account/downsample.h"

#include <algorithm>

namespace monet {

std::vector<std::size_t> thinned(std::span<const std::int64_t> heights, std::size_t most) {
  most = std::max<std::size_t>(most, 3);
  std::vector<std::size_t> kept;
  if (heights.size() <= most) {
    for (std::size_t i = 0; i < heights.size(); ++i) kept.push_back(i);
    return kept;
  }
  const std::size_t inner = heights.size() - 2, stretches = most - 2;
  kept.push_back(0);
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t begin = 1 + i * inner / stretches, end = 1 + (i + 1) * inner / stretches;
    const auto highest = std::ranges::max_element(heights.subspan(begin, end - begin));
    kept.push_back(static_cast<std::size_t>(highest - heights.begin()));
  }
  kept.push_back(heights.size() - 1);
  return kept;
}

}  // namespace monet
