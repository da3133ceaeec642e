#include "graph/shape.h"

#include "base/checked.h"
#include "base/require.h"

#include <algorithm>

namespace monet {

std::int64_t element_count(std::span<const std::int64_t> shape) {
  const auto count = checked_product(shape);
  MONET_REQUIRE(count.has_value());
  return *count;
}

std::string to_string(std::span<const std::int64_t> shape) {
  if (shape.empty()) return "scalar";
  // A damaged file may claim thousands of axes; nobody wants to read them all.
  constexpr std::size_t most = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(shape.size(), most); ++i) {
    if (i > 0) text += 'x';
    text += std::to_string(shape[i]);
  }
  if (shape.size() > most) text += "x...";
  return text;
}

std::optional<Shape> broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Shape result(a.begin(), a.end());
  const std::size_t lead = a.size() - b.size();
  for (std::size_t i = 0; i < b.size(); ++i) {
    std::int64_t& size = result[lead + i];
    if (size == 1) {
      size = b[i];
    } else if (b[i] != 1 && b[i] != size) {
      return std::nullopt;
    }
  }
  return result;
}

std::optional<std::int64_t> normalized_axis(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return std::nullopt;
  return axis < 0 ? axis + signed_rank : axis;
}

}  // namespace monet
