#include "evaluate/tiles/stored_width.h"

#include <numeric>

namespace monet {

StoredWidth stored_width(const TensorType& type) {
  const std::int64_t elements = element_count(type.shape);
  if (!type.format.is_scaled() || elements == 0) return bits_of(type.format.element);
  const std::int64_t bits = 8 * bytes(type.shape, type.format);
  const std::int64_t common = std::gcd(bits, elements);
  return {bits / common, elements / common};
}

}  // namespace monet
