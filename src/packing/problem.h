// Buffers whose lifetimes hang together, with time cut into the sections that matter. For the other files here.
#pragma once

#include "packing/packing.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet::packing {

// A section is a moment at which some buffer starts that is alive with one that ended since the last: the maximal sets
// of buffers alive together. Sizes are in units that divide all of them.
struct Problem {
  std::vector<std::int32_t> first, last;  // by buffer: its sections [first, last)
  std::vector<std::int64_t> size, alignment;
  std::vector<std::int64_t> lifetime;
  std::vector<std::int64_t> load;  // by section: sum of sizes
  std::vector<std::size_t> item;   // by buffer: the item it stands for

  std::int32_t buffers() const { return static_cast<std::int32_t>(first.size()); }
  std::int32_t sections() const { return static_cast<std::int32_t>(load.size()); }
  std::int64_t max_load() const;
  // Sum over buffers of the number of their sections.
  std::int64_t span_total() const;
};

inline std::int64_t align_up(std::int64_t offset, std::int64_t alignment) {
  return alignment == 1 ? offset : (offset + alignment - 1) / alignment * alignment;
}

// The greatest number that divides all sizes and all alignments above 1; 1 without items.
std::int64_t common_unit(std::span<const PackItem> items);

// One for each set of items between moments at which nothing is alive; items of no size or no lifetime are in none.
std::vector<Problem> split(std::span<const PackItem> items, std::int64_t unit);

}  // namespace monet::packing
