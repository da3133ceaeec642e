// Is a packing one? Shares no code with what makes them.
#pragma once

#include "packing/packing.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace monet {

// Empty, or what is wrong: an offset that is negative or not aligned, a top above the capacity, two items that are
// alive together and overlap. Items of no size or no lifetime can be anywhere. O(n log n).
std::string check_packing(std::span<const PackItem> items, std::span<const std::int64_t> offsets,
                          std::optional<std::int64_t> capacity);

}  // namespace monet
