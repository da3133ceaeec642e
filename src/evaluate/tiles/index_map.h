// From positions in some axes of a tensor to those in some axes of the stored tensor behind it: what views (and gathers
// with known indices) do, composed. A group of axes is counted through as one number, the last axis fastest; the map is
// a list of steps on that number, each exact, none needing a table of all positions.
#pragma once

#include "evaluate/tiles/positions.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace monet::tiling {

// Changes one digit of the number, or swaps two neighbouring ones; `inner` is the size of all that run faster.
struct MapStep {
  enum class Kind : std::uint8_t { affine, swap, lookup };
  Kind kind = Kind::affine;
  std::int64_t inner = 1;
  std::int64_t size = 1;    // of the digit; swap: of the slower one
  std::int64_t result = 1;  // its size afterwards; swap: the size of the faster one
  AffineMap affine;
  std::shared_ptr<const std::vector<std::int64_t>> table;  // lookup: by digit; outside [0, result): nowhere
  bool operator==(const MapStep&) const = default;
};

struct IndexMap {
  std::int64_t size = 1;  // of the group that it starts from
  std::vector<MapStep> steps;
  std::vector<std::uint8_t> axes;  // where it arrives, slowest first; axes of size 1 are left out
  std::vector<std::int64_t> sizes;
  bool operator==(const IndexMap&) const = default;

  // Several positions may have one image.
  bool folds() const;
  // Size of what runs faster than axis `at` of `axes`.
  std::int64_t inner(std::size_t at) const;

  void append_affine(std::size_t at, const AffineMap& map, std::int64_t result);
  void append_lookup(std::size_t at, std::shared_ptr<const std::vector<std::int64_t>> table, std::int64_t result);
  // Axis `at` and the next change places.
  void swap_with_next(std::size_t at);
  // Brings the axes into the order of `axes`.
  void reorder(const std::vector<std::uint8_t>& order);
};

// Both side by side: `fast` becomes the faster digits.
IndexMap join(IndexMap slow, const IndexMap& fast);

}  // namespace monet::tiling
