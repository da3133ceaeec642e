// How wide the elements of a tensor are as a machine stores them.
#pragma once

#include "graph/graph.h"

#include <cstdint>

namespace monet {

// So many bits for so many elements: 8 for 1, and with a scale of 8 bits for each 32 of them, 264 for 32.
struct StoredWidth {
  // NOLINTNEXTLINE(google-explicit-constructor): a width of whole bits is a number
  constexpr StoredWidth(std::int64_t width_bits = 0, std::int64_t of_elements = 1)
      : bits(width_bits), elements(of_elements) {}
  bool operator==(const StoredWidth&) const = default;

  // Of `count` elements, rounded up to whole bytes.
  constexpr std::int64_t bytes(std::int64_t count) const {
    if (elements == 1 && bits % 8 == 0) return count * (bits / 8);
    const __int128 total = static_cast<__int128>(count) * bits;
    const __int128 whole = static_cast<__int128>(elements) * 8;
    return static_cast<std::int64_t>((total + whole - 1) / whole);
  }

  std::int64_t bits;
  std::int64_t elements;
};

// As its format says: with its share of the scales and of what fills groups up, so that all elements together are
// bytes() of the tensor.
StoredWidth stored_width(const TensorType& type);

}  // namespace monet
