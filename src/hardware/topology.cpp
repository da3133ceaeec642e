#include "hardware/topology.h"

namespace monet {

Pairs grid_pairs(std::span<const std::int64_t> shape, bool closed) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  Pairs pairs;
  for (std::int64_t part = 0; part < count; ++part) {
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
      const std::int64_t at = part / stride % shape[i];
      if (at + 1 < shape[i]) {
        pairs.emplace_back(part, part + stride);
      } else if (closed && shape[i] > 2) {
        pairs.emplace_back(part, part - at * stride);
      }
    }
  }
  return pairs;
}

Pairs ring_pairs(std::int64_t count) { return grid_pairs(std::span(&count, 1), true); }

Pairs tree_pairs(std::int64_t count, std::int64_t arity) {
  Pairs pairs;
  for (std::int64_t part = 1; part < count; ++part) pairs.emplace_back((part - 1) / arity, part);
  return pairs;
}

Pairs all_pairs(std::int64_t count) {
  Pairs pairs;
  for (std::int64_t a = 0; a < count; ++a) {
    for (std::int64_t b = a + 1; b < count; ++b) pairs.emplace_back(a, b);
  }
  return pairs;
}

}  // namespace monet
