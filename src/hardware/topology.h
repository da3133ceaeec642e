// Pairs that the regular networks join. Parts are counted row by row; no pair comes twice.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace monet {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Neighbours along each axis of a grid; `closed`: the last along an axis of three or more is a neighbour of the first.
Pairs grid_pairs(std::span<const std::int64_t> shape, bool closed);
Pairs ring_pairs(std::int64_t count);
// Part i below part (i - 1) / arity.
Pairs tree_pairs(std::int64_t count, std::int64_t arity);
Pairs all_pairs(std::int64_t count);

}  // namespace monet
